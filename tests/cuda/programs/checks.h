// Checks of the test programs, whatever API they use: what fails is printed and counted.
#ifndef WEFT_TESTS_CUDA_CHECKS_H
#define WEFT_TESTS_CUDA_CHECKS_H

#include <cstdio>
#include <cstdlib>

inline int failures = 0;

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                                  \
    }                                                                              \
  } while (0)

// Whether the GPU is behind the kernel's driver (driver_backend_test.cpp), which can do less than the
// simulator.
inline bool behind_driver() {
  return std::getenv("WEFT_TEST_BEHIND_DRIVER") != nullptr;
}

inline int verdict() {
  if (failures == 0) std::printf("all as expected\n");
  return failures == 0 ? 0 : 1;
}

#endif
