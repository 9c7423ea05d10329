// What the files of the runtime API share. Functions are declared in weft/cuda_runtime.h.
#ifndef WEFT_RUNTIME_CUDA_CUDART_CUDART_H
#define WEFT_RUNTIME_CUDA_CUDART_CUDART_H

#pragma GCC visibility push(default)
#include "weft/cuda_runtime.h"
#pragma GCC visibility pop

#include "runtime/cuda/core/context.h"
#include "runtime/cuda/core/memory.h"

namespace weft::cuda {

struct Function;

// The last error of the calling thread, until cudaGetLastError.
cudaError_t& last_error();

template <class Body>
cudaError_t runtime_call(const char* name, Body&& body,
                         Context::AfterFault after_fault = Context::AfterFault::kRefused) {
  const auto result = static_cast<cudaError_t>(Context::instance().call(name, body, after_fault));
  if (result != cudaSuccess && result != cudaErrorNotReady) last_error() = result;
  return result;
}

// A parameter through which a value is returned.
template <class T>
T& required(T* pointer) {
  if (pointer == nullptr) fail(Error::kInvalidValue);
  return *pointer;
}

inline void require_device(int device) {
  if (device != 0) fail(Error::kInvalidDevice);
}

inline std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

// What all forms of cudaGetDeviceProperties begin with.
cudaError_t device_properties(cudaDeviceProp* properties, int device);

// Kernels and variables that the program's modules have registered, by the address of their host side
// (registration.cpp). Fail with kInvalidDeviceFunction and kInvalidSymbol.
Function& function_of_symbol(Context& context, const void* symbol);
std::uint64_t variable_of_symbol(Context& context, const void* symbol, std::uint64_t* bytes);
// A kernel by its symbol, or by the handle that cudaGetKernel gave.
Function& function_of(Context& context, const void* symbol_or_handle);

}  // namespace weft::cuda

#endif
