#include "silicon/replay.h"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <stdexcept>
#include <utility>

#include "weft/memory/memory_image.h"
#include "weft/platform/gpu.h"

namespace weft::test::silicon {
namespace {

using Handle = void*;                // CUcontext, CUmodule, CUfunction, CUevent
using Address = unsigned long long;  // CUdeviceptr

// Attributes of a device (CUDA driver API, CUdevice_attribute).
constexpr int kMultiprocessors = 16;
// Extra options of cuLaunchKernel: the parameters as one buffer.
Handle parameter_option(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);  // NOLINT(performance-no-int-to-ptr)
}
constexpr std::uintptr_t kBufferPointer = 1, kBufferSize = 2, kEnd = 0;

struct Range {
  std::uint64_t begin = 0, bytes = 0;
};

// The pages of the image that the host has: others are zero.
std::vector<Range> pages_of(std::uint8_t* image, std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> present((bytes + page - 1) / page);
  if (mincore(image, bytes, present.data()) != 0) throw std::runtime_error("mincore failed");
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < present.size(); ++i) {
    if ((present[i] & 1) == 0) continue;
    if (!ranges.empty() && ranges.back().begin + ranges.back().bytes == i * page) {
      ranges.back().bytes += page;
    } else {
      ranges.push_back({i * page, page});
    }
  }
  return ranges;
}

}  // namespace

struct Replay::Impl {
  explicit Impl(const Symbols& symbols) {
    find(symbols, "cuGetErrorString", error_string);
    find(symbols, "cuInit", init);
    find(symbols, "cuDriverGetVersion", version);
    find(symbols, "cuDeviceGet", get_device);
    find(symbols, "cuDeviceGetName", get_name);
    find(symbols, "cuDeviceGetAttribute", get_attribute);
    find(symbols, "cuDevicePrimaryCtxRetain", retain_context);
    find(symbols, "cuCtxSetCurrent", set_context);
    find(symbols, "cuCtxSynchronize", synchronise);
    find(symbols, "cuMemAlloc_v2", allocate);
    find(symbols, "cuMemsetD8_v2", fill);
    find(symbols, "cuMemcpyHtoD_v2", copy_to);
    find(symbols, "cuMemcpyDtoH_v2", copy_from);
    find(symbols, "cuModuleLoadData", load);
    find(symbols, "cuModuleUnload", unload);
    find(symbols, "cuModuleGetFunction", get_function);
    find(symbols, "cuModuleGetGlobal_v2", get_global);
    find(symbols, "cuLaunchKernel", launch);
    find(symbols, "cuEventCreate", create_event);
    find(symbols, "cuEventRecord", record_event);
    find(symbols, "cuEventElapsedTime", elapsed);
  }

  template <class F>
  static void find(const Symbols& symbols, const char* name, F*& function) {
    function = reinterpret_cast<F*>(symbols(name));
    if (function == nullptr) throw std::runtime_error(std::string("the CUDA driver has no ") + name);
  }
  void check(int result, const char* what) const {
    if (result == 0) return;
    const char* text = nullptr;
    error_string(result, &text);
    throw std::runtime_error(std::string(what) + ": " + (text != nullptr ? text : "unknown error") + " (" +
                             std::to_string(result) + ")");
  }
  Handle event(std::size_t index) {
    while (events.size() <= index) {
      events.push_back(nullptr);
      check(create_event(&events.back(), 0), "cuEventCreate");
    }
    return events[index];
  }
  // Variables of the module, which lie elsewhere on the GPU.
  template <class Copy>
  void each_variable(const runtime::LoadedModule& loaded, Copy copy) {
    for (const auto& variable : loaded.placed()) {
      Address address = 0;
      std::size_t bytes = 0;
      if (get_global(&address, &bytes, module, variable.name.c_str()) != 0)
        continue;  // unused, optimised away
      copy(address, image() + (variable.address - base), std::min<std::size_t>(bytes, variable.bytes));
    }
  }
  std::uint8_t* image() const { return device->gpu().memory().data(); }

  int (*error_string)(int, const char**) = nullptr;
  int (*init)(unsigned) = nullptr;
  int (*version)(int*) = nullptr;
  int (*get_device)(int*, int) = nullptr;
  int (*get_name)(char*, int, int) = nullptr;
  int (*get_attribute)(int*, int, int) = nullptr;
  int (*retain_context)(Handle*, int) = nullptr;
  int (*set_context)(Handle) = nullptr;
  int (*synchronise)() = nullptr;
  int (*allocate)(Address*, std::size_t) = nullptr;
  int (*fill)(Address, unsigned char, std::size_t) = nullptr;
  int (*copy_to)(Address, const void*, std::size_t) = nullptr;
  int (*copy_from)(void*, Address, std::size_t) = nullptr;
  int (*load)(Handle*, const void*) = nullptr;
  int (*unload)(Handle) = nullptr;
  int (*get_function)(Handle*, Handle, const char*) = nullptr;
  int (*get_global)(Address*, std::size_t*, Handle, const char*) = nullptr;
  int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                void**) = nullptr;
  int (*create_event)(Handle*, unsigned) = nullptr;
  int (*record_event)(Handle, Handle) = nullptr;
  int (*elapsed)(float*, Handle, Handle) = nullptr;

  std::string name;
  int driver = 0, multiprocessors = 0;
  Address base = 0;
  std::uint64_t bytes = 0;
  Handle module = nullptr;
  const runtime::LoadedModule* loaded = nullptr;
  std::vector<Handle> events;
  std::vector<Range> given;  // of the image, to the GPU
  std::vector<Time> times;
  std::size_t first_untimed = 0;
  bool at_rest = true;
  runtime::Device* device = nullptr;
};

Replay::Replay(const Symbols& symbols, std::uint64_t bytes) : impl_(std::make_unique<Impl>(symbols)) {
  Impl& d = *impl_;
  int ordinal = 0;
  char name[256] = {};
  Handle context = nullptr;
  d.check(d.init(0), "cuInit");
  d.check(d.version(&d.driver), "cuDriverGetVersion");
  d.check(d.get_device(&ordinal, 0), "cuDeviceGet");
  d.check(d.get_name(name, sizeof name - 1, ordinal), "cuDeviceGetName");
  d.check(d.get_attribute(&d.multiprocessors, kMultiprocessors, ordinal), "cuDeviceGetAttribute");
  d.check(d.retain_context(&context, ordinal), "cuDevicePrimaryCtxRetain");
  d.check(d.set_context(context), "cuCtxSetCurrent");
  d.name = name;
  d.bytes = bytes;
  d.check(d.allocate(&d.base, bytes), "cuMemAlloc");
}

Replay::~Replay() = default;

std::vector<std::string> Replay::settings() const {
  return {"addresses.device_base=" + std::to_string(impl_->base),
          "dram.bytes=" + std::to_string(impl_->bytes)};
}
void Replay::observe(runtime::Device& device) {
  impl_->device = &device;
}
void Replay::begin(const std::string& ptx) {
  Impl& d = *impl_;
  if (d.module != nullptr) d.check(d.unload(std::exchange(d.module, nullptr)), "cuModuleUnload");
  d.check(d.load(&d.module, ptx.c_str()), "cuModuleLoadData");
  d.check(d.fill(d.base, 0, d.bytes), "cuMemsetD8");
  d.times.clear();
  d.given.clear();
  d.first_untimed = 0;
  d.at_rest = true;
}
const std::vector<Replay::Time>& Replay::times() const {
  return impl_->times;
}
std::string Replay::gpu() const {
  return impl_->name;
}
int Replay::multiprocessors() const {
  return impl_->multiprocessors;
}
int Replay::driver() const {
  return impl_->driver;
}

void Replay::launching(const dispatch::Launch& launch, const runtime::LoadedModule& module) {
  Impl& d = *impl_;
  d.loaded = &module;
  if (d.at_rest) {
    d.given = pages_of(d.image(), d.bytes);
    for (const Range& range : d.given)
      d.check(d.copy_to(d.base + range.begin, d.image() + range.begin, range.bytes), "cuMemcpyHtoD");
    d.each_variable(module, [&](Address address, const std::uint8_t* bytes, std::size_t count) {
      d.check(d.copy_to(address, bytes, count), "cuMemcpyHtoD");
    });
    d.at_rest = false;
  }
  Handle function = nullptr;
  d.check(d.get_function(&function, d.module, launch.program->name.c_str()), "cuModuleGetFunction");
  std::vector<std::uint8_t> parameters = launch.parameters;
  std::size_t count = parameters.size();
  void* options[] = {parameter_option(kBufferPointer), parameters.data(), parameter_option(kBufferSize),
                     &count, parameter_option(kEnd)};
  const std::size_t index = 2 * d.times.size();
  d.check(d.record_event(d.event(index), nullptr), "cuEventRecord");
  d.check(d.launch(function, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
                   launch.block[2], static_cast<unsigned>(launch.dynamic_shared), nullptr, nullptr, options),
          "cuLaunchKernel");
  d.check(d.record_event(d.event(index + 1), nullptr), "cuEventRecord");
  d.times.push_back({launch.program->name, launch.blocks(), launch.threads_per_block(), 0});
}

void Replay::synchronised() {
  Impl& d = *impl_;
  if (d.at_rest) return;
  d.check(d.synchronise(), "cuCtxSynchronize");
  for (; d.first_untimed < d.times.size(); ++d.first_untimed) {
    float milliseconds = 0;
    d.check(d.elapsed(&milliseconds, d.event(2 * d.first_untimed), d.event(2 * d.first_untimed + 1)),
            "cuEventElapsedTime");
    d.times[d.first_untimed].microseconds = 1000.0 * double{milliseconds};
  }
  for (const Range& range : pages_of(d.image(), d.bytes))
    d.check(d.copy_from(d.image() + range.begin, d.base + range.begin, range.bytes), "cuMemcpyDtoH");
  d.each_variable(*d.loaded, [&](Address address, std::uint8_t* bytes, std::size_t count) {
    d.check(d.copy_from(bytes, address, count), "cuMemcpyDtoH");
  });
  d.at_rest = true;
}

}  // namespace weft::test::silicon
