// Checks of the test programs, whatever API they use: what fails is printed and counted.
#ifndef WEFT_TESTS_CUDA_CHECKS_H
#define WEFT_TESTS_CUDA_CHECKS_H

#include <cstdio>

inline int failures = 0;

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                                  \
    }                                                                              \
  } while (0)

inline int verdict() {
  if (failures == 0) std::printf("all as expected\n");
  return failures == 0 ? 0 : 1;
}

#endif
