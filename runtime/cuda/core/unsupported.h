// Functions of CUDA's API that exist here only to say that they are not provided: a program that refers to
// one starts, and gets an error from it instead of a failure of the dynamic linker.
#ifndef WEFT_RUNTIME_CUDA_CORE_UNSUPPORTED_H
#define WEFT_RUNTIME_CUDA_CORE_UNSUPPORTED_H

namespace weft::cuda {

// Reports the function by name, once each, with what to do instead; returns Error::kNotSupported. `caller`:
// an address in the code that called it.
int unsupported(const char* function, const void* caller);
// The same for a name without a suffix whose parameters are those of CUDA 3.1: sizes and addresses of 32
// bits.
int old_form(const char* function);

}  // namespace weft::cuda

// Callers pass what parameters they like: by the C calling convention of x86-64 and AArch64 they are the
// caller's.
#define WEFT_UNSUPPORTED(name)                                               \
  extern "C" __attribute__((visibility("default"))) int name(); /* NOLINT */ \
  int name() {                                                               \
    return weft::cuda::unsupported(#name, __builtin_return_address(0));      \
  }
#define WEFT_OLD_FORM(name)                                                  \
  extern "C" __attribute__((visibility("default"))) int name(); /* NOLINT */ \
  int name() {                                                               \
    return weft::cuda::old_form(#name);                                      \
  }

#endif
