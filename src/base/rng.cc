#include "base/rng.h"

#include <random>

namespace cephmark {

uint64_t fresh_seed() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

}  // namespace cephmark
