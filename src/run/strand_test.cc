#include "run/strand.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace cephmark {
namespace {

// Four threads bring completions; whoever finds the strand free advances. `advanced` is
// deliberately not atomic: under TSan this test fails when two threads are ever inside at once, and
// its value tells whether a wake-up was lost.
TEST(Strand, OneHolderAtATimeAndNoLostWakeUp) {
  constexpr int kThreads = 4, kRequests = 20'000;
  Strand strand;
  Mailbox mailbox;
  uint64_t advanced = 0;
  std::vector<std::vector<IoRequest>> requests(kThreads, std::vector<IoRequest>(kRequests));
  {
    std::vector<std::jthread> threads;
    for (auto& mine : requests)
      threads.emplace_back([&] {
        for (auto& request : mine) {
          request.result = 4096;
          mailbox.push(request);
          if (!strand.enter()) continue;
          do {
            for (IoRequest* done = mailbox.take_all(); done; done = done->next)
              advanced += done->result;
          } while (!strand.leave());
        }
      });
  }
  EXPECT_TRUE(strand.idle());
  EXPECT_EQ(mailbox.take_all(), nullptr);
  EXPECT_EQ(advanced, uint64_t{kThreads} * kRequests * 4096);
}

TEST(Mailbox, GivesOldestFirst) {
  Mailbox mailbox;
  IoRequest a, b;
  mailbox.push(a);
  mailbox.push(b);
  IoRequest* first = mailbox.take_all();
  EXPECT_EQ(first, &a);
  EXPECT_EQ(first->next, &b);
  EXPECT_EQ(b.next, nullptr);
}

}  // namespace
}  // namespace cephmark
