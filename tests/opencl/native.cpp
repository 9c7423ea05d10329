#include "opencl/native.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace weft::opencl {
namespace {

void check(cl_int status, const char* call) {
  if (status != CL_SUCCESS) {
    throw std::runtime_error(std::string(call) + " failed with status " + std::to_string(status));
  }
}

// An OpenCL object that is released with its owner.
template <class Handle>
class Owned {
 public:
  Owned(Handle handle, cl_int(CL_API_CALL* release)(Handle)) : handle_(handle), release_(release) {}
  ~Owned() {
    if (handle_ != nullptr) release_(handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Handle get() const { return handle_; }

 private:
  Handle handle_;
  cl_int(CL_API_CALL* release_)(Handle);
};
using Buffer = Owned<cl_mem>;

// PoCL asks hwloc for processors and memory, which reads /sys, and aborts without it: a chroot may have none.
// Then hwloc is told of a machine.
void describe_machine_without_sysfs() {
  if (access("/sys/devices/system/cpu", F_OK) == 0) return;
  setenv("HWLOC_SYNTHETIC", "NUMANode:1(memory=4294967296) Core:2 PU:1", 0);
}

// The first CPU of the first platform that has one; null if there is none.
cl_device_id find_cpu() {
  describe_machine_without_sysfs();
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return nullptr;
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  for (cl_platform_id platform : platforms) {
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS) return device;
  }
  return nullptr;
}

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  return log;
}

std::unique_ptr<Buffer> set_argument(cl_context context, cl_kernel kernel, cl_uint index,
                                     const Argument& argument) {
  if (argument.kind == Argument::Kind::kLocal) {
    check(clSetKernelArg(kernel, index, argument.local, nullptr), "clSetKernelArg");
    return nullptr;
  }
  if (argument.kind == Argument::Kind::kValue) {
    check(clSetKernelArg(kernel, index, argument.bytes.size(), argument.bytes.data()), "clSetKernelArg");
    return nullptr;
  }
  cl_int status = CL_SUCCESS;
  Bytes initial = argument.bytes;
  auto buffer = std::make_unique<Buffer>(clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                                        initial.size(), initial.data(), &status),
                                         clReleaseMemObject);
  check(status, "clCreateBuffer");
  cl_mem handle = buffer->get();
  check(clSetKernelArg(kernel, index, sizeof(cl_mem), static_cast<const void*>(&handle)), "clSetKernelArg");
  return buffer;
}

}  // namespace

std::string native_version() {
  cl_device_id device = find_cpu();
  if (device == nullptr) return "";
  char text[1024] = "";
  check(clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof text - 1, text, nullptr), "clGetDeviceInfo");
  return text;
}

std::vector<Bytes> run_native(const std::string& source, const KernelCase& test) {
  cl_device_id device = find_cpu();
  if (device == nullptr) throw std::runtime_error("no OpenCL device");
  cl_int status = CL_SUCCESS;
  const Owned context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status), clReleaseContext);
  check(status, "clCreateContext");
  const Owned queue(clCreateCommandQueue(context.get(), device, 0, &status), clReleaseCommandQueue);
  check(status, "clCreateCommandQueue");
  const char* text = source.c_str();
  const Owned program(clCreateProgramWithSource(context.get(), 1, &text, nullptr, &status), clReleaseProgram);
  check(status, "clCreateProgramWithSource");
  status = clBuildProgram(program.get(), 1, &device, "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt",
                          nullptr, nullptr);
  if (status != CL_SUCCESS) {
    throw std::runtime_error("clBuildProgram failed:\n" + build_log(program.get(), device));
  }
  const Owned kernel(clCreateKernel(program.get(), test.name.c_str(), &status), clReleaseKernel);
  check(status, "clCreateKernel");

  std::vector<std::unique_ptr<Buffer>> buffers;
  buffers.reserve(test.arguments.size());
  for (std::size_t i = 0; i < test.arguments.size(); ++i) {
    buffers.push_back(set_argument(context.get(), kernel.get(), static_cast<cl_uint>(i), test.arguments[i]));
  }
  check(clEnqueueNDRangeKernel(queue.get(), kernel.get(), 3, nullptr, test.global.data(), test.local.data(),
                               0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  std::vector<Bytes> results;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i] == nullptr) continue;
    results.emplace_back(test.arguments[i].bytes.size());
    check(clEnqueueReadBuffer(queue.get(), buffers[i]->get(), CL_TRUE, 0, results.back().size(),
                              results.back().data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }
  return results;
}

}  // namespace weft::opencl
