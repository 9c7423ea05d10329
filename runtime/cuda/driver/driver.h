// What the files of the driver API share. Functions are declared in weft/cuda_driver.h; each takes the lock
// of the context (core/context.h), and turns handles into objects there.
#ifndef WEFT_RUNTIME_CUDA_DRIVER_DRIVER_H
#define WEFT_RUNTIME_CUDA_DRIVER_DRIVER_H

#pragma GCC visibility push(default)
#include "weft/cuda_driver.h"
#pragma GCC visibility pop

#include "runtime/cuda/core/context.h"

namespace weft::cuda {

// The driver API has no errors of the runtime API's own (below 100, but for 1 to 4).
inline CUresult result_of(Error error) {
  switch (error) {
    case Error::kInvalidDeviceFunction:
    case Error::kInvalidSymbol:
      return CUDA_ERROR_NOT_FOUND;
    default:
      break;
  }
  const int value = static_cast<int>(error);
  return static_cast<CUresult>(value > 4 && value < 100 ? CUDA_ERROR_INVALID_VALUE : value);
}

template <class Body>
CUresult driver_call(const char* name, Body&& body,
                     Context::AfterFault after_fault = Context::AfterFault::kRefused) {
  return result_of(Context::instance().call(name, body, after_fault));
}

// A parameter through which a value is returned.
template <class T>
T& required(T* pointer) {
  if (pointer == nullptr) fail(Error::kInvalidValue);
  return *pointer;
}

struct Function;
struct FunctionAttributes;
// By the number of an attribute (module.cpp). Fail with kInvalidValue for others.
int attribute_of(const FunctionAttributes& attributes, CUfunction_attribute attribute);
void set_attribute(Context& context, Function& function, CUfunction_attribute attribute, int value);

// The context that a process has, whatever a program creates (device.cpp).
CUcontext context_handle();

inline void require_device(CUdevice device) {
  if (device != 0) fail(Error::kInvalidDevice);
}

}  // namespace weft::cuda

#endif
