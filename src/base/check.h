// CEPHMARK_CHECK: an invariant of our own code, checked in every build. Never for input or for I/O
// results.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CEPHMARK_CHECK(condition, text)                                                          \
  do {                                                                                           \
    if (!(condition)) [[unlikely]] {                                                             \
      std::fprintf(stderr, "cephmark: broken invariant at %s:%d: %s (%s)\n", __FILE__, __LINE__, \
                   text, #condition);                                                            \
      std::abort();                                                                              \
    }                                                                                            \
  } while (0)
