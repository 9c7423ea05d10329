// Runs an OpenCL kernel on the machine itself, through whatever CPU implementation is installed (PoCL in
// Debian).
#ifndef WEFT_TESTS_OPENCL_NATIVE_H
#define WEFT_TESTS_OPENCL_NATIVE_H

#include <string>
#include <vector>

#include "opencl/kernel_case.h"

namespace weft::opencl {

// The version of the implementation, or empty if there is none.
std::string native_version();

// Compiles `source` and runs the kernel; returns its buffers afterwards, in the order of the arguments.
// Throws std::runtime_error naming the call that failed, with the compiler's log.
std::vector<Bytes> run_native(const std::string& source, const KernelCase& test);

}  // namespace weft::opencl

#endif
