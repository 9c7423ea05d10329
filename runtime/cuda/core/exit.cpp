// _exit and _Exit of the program: libcuda and libcudart come before the C library where the dynamic linker
// looks for them, if the program is linked with either. What such a program has done is written before it
// ends; quick_exit and exit tell the context themselves (context.cpp).
#include <unistd.h>

#include <cstdlib>

#include "runtime/cuda/core/context.h"

extern "C" {
__attribute__((visibility("default"))) void _exit(int status) {
  weft::cuda::Context::exit_now(status);
}
__attribute__((visibility("default"))) void _Exit(int status) noexcept {
  weft::cuda::Context::exit_now(status);
}
}
