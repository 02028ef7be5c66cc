// RunObserver: what a command gives to a Runner: progress for the person, ticks for the outputs.
// Owns nothing.
#pragma once

#include "output/output_set.h"
#include "output/progress.h"

namespace cephmark {

class RunObserver : public Observer {
 public:
  RunObserver(Progress& progress, OutputSet& outputs) : progress_(progress), outputs_(outputs) {}

  void progress(const std::string& what, uint64_t done, uint64_t total) override {
    progress_.progress(what, done, total);
  }
  void note(const std::string& text) override { progress_.note(text); }
  void tick(const TickSample& sample) override {
    outputs_.tick(sample);
    progress_.tick(sample);
  }

 private:
  Progress& progress_;
  OutputSet& outputs_;
};

}  // namespace cephmark
