// Memory, copies, variables.
#include "runtime/cuda/core/memory.h"

#include <cstring>

#include "runtime/cuda/core/images.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/cudart/cudart.h"

using namespace weft::cuda;

namespace {

// What the program says of the two ends must be so: on hardware a host pointer given as a device pointer is
// refused.
void check_kind(Context& c, std::uint64_t to, std::uint64_t from, cudaMemcpyKind kind) {
  const auto reachable = [&](std::uint64_t address) {
    return c.memory().is_device(address) || c.memory().find(address) != nullptr;
  };
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) fail(Error::kInvalidDirection);
  if ((to_device && !reachable(to)) || (from_device && !reachable(from))) fail(Error::kInvalidValue);
  // The host cannot read or write device memory as its own.
  const bool to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
  const bool from_host = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
  if ((to_host && c.memory().is_device(to)) || (from_host && c.memory().is_device(from)))
    fail(Error::kInvalidValue);
}

cudaError_t copy(const char* name, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream) {
  return runtime_call(name, [&](Context& c) {
    if (bytes == 0) return;
    check_kind(c, address_of(to), address_of(from), kind);
    c.streams().copy(address_of(to), address_of(from), bytes, c.streams().stream(stream));
  });
}

cudaError_t copy_2d(const char* name, void* to, std::size_t to_pitch, const void* from,
                    std::size_t from_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                    cudaStream_t stream, Host host) {
  return runtime_call(name, [&](Context& c) {
    if (width == 0 || height == 0) return;
    if (to_pitch < width || from_pitch < width) fail(Error::kInvalidPitch);
    check_kind(c, address_of(to), address_of(from), kind);
    End to_end, from_end;
    to_end.address = address_of(to), to_end.pitch = to_pitch;
    from_end.address = address_of(from), from_end.pitch = from_pitch;
    c.streams().copy(to_end, from_end, {width, height, 1}, c.streams().stream(stream), host);
  });
}

End end_of(Context& c, cudaArray_t array, const cudaPos& at, const cudaPitchedPtr& memory,
           std::size_t element) {
  End end;
  if (array != nullptr) {
    end.image = &c.images().array(array).image;
    end.x = at.x * end.image->format.bytes();
    end.y = static_cast<std::uint32_t>(at.y);
    end.z = static_cast<std::uint32_t>(at.z);
    return end;
  }
  if (memory.ptr == nullptr) fail(Error::kInvalidValue);
  end.pitch = memory.pitch;
  end.slice = memory.pitch * memory.ysize;
  end.address = address_of(memory.ptr) + at.x * element + at.y * end.pitch + at.z * end.slice;
  return end;
}

// The extent, and where a copy begins in an array, count elements; without any array everything counts bytes.
cudaError_t copy_3d(const char* name, const cudaMemcpy3DParms* copy, cudaStream_t stream, Host host) {
  return runtime_call(name, [&](Context& c) {
    const cudaMemcpy3DParms& k = required(copy);
    cudaArray* const array = k.srcArray != nullptr ? k.srcArray : k.dstArray;
    const std::size_t element = array == nullptr ? 1 : c.images().array(array).image.format.bytes();
    const End to = end_of(c, k.dstArray, k.dstPos, k.dstPtr, 1),
              from = end_of(c, k.srcArray, k.srcPos, k.srcPtr, 1);
    c.streams().copy(to, from, {k.extent.width * element, k.extent.height, k.extent.depth},
                     c.streams().stream(stream), host);
  });
}

cudaError_t fill(const char* name, void* to, std::size_t pitch, std::size_t slice, int value, const Box& box,
                 cudaStream_t stream) {
  return runtime_call(name, [&](Context& c) {
    End end;
    end.address = address_of(to), end.pitch = pitch, end.slice = slice;
    c.streams().fill(end, box, static_cast<std::uint32_t>(value), 1, c.streams().stream(stream));
  });
}

cudaError_t copy_symbol(const char* name, bool to_symbol, const void* symbol, std::uint64_t other,
                        std::size_t bytes, std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream,
                        bool waits) {
  return runtime_call(name, [&](Context& c) {
    std::uint64_t size = 0;
    const std::uint64_t address = variable_of_symbol(c, symbol, &size);
    if (offset > size || bytes > size - offset) fail(Error::kInvalidValue);
    const std::uint64_t at = address + offset, to = to_symbol ? at : other, from = to_symbol ? other : at;
    if (bytes == 0) return;
    check_kind(c, to, from, kind);
    c.streams().copy(to, from, bytes, c.streams().stream(stream));
    if (waits) c.streams().synchronise(c.streams().stream(stream));
  });
}

}  // namespace

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return runtime_call("cudaMalloc", [&](Context& c) {
    required(memory) = bytes == 0 ? nullptr : reinterpret_cast<void*>(c.memory().allocate(bytes));
  });
}
cudaError_t cudaFree(void* memory) {
  return runtime_call("cudaFree", [&](Context& c) {
    c.backend();  // programs call cudaFree(0) to have the device made
    c.memory().free(address_of(memory));
  });
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  return runtime_call("cudaHostAlloc", [&](Context& c) {
    required(memory) = bytes == 0 ? nullptr : c.memory().allocate_host(bytes, flags);
  });
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return cudaHostAlloc(memory, bytes, cudaHostAllocDefault);
}
cudaError_t cudaFreeHost(void* memory) {
  return runtime_call("cudaFreeHost", [&](Context& c) { c.memory().free_host(memory); });
}
cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  return runtime_call("cudaHostRegister", [&](Context& c) { c.memory().add_host(memory, bytes, flags); });
}
cudaError_t cudaHostUnregister(void* memory) {
  return runtime_call("cudaHostUnregister", [&](Context& c) { c.memory().remove_host(memory); });
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned /*flags*/) {
  return runtime_call("cudaHostGetDevicePointer", [&](Context& c) {
    required(device) = reinterpret_cast<void*>(c.memory().device_address(host));
  });
}
cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return runtime_call("cudaHostGetFlags", [&](Context& c) {
    const Memory::Block* block = c.memory().find(address_of(host));
    if (block == nullptr || block->kind == Memory::Kind::kDevice) fail(Error::kInvalidValue);
    required(flags) = block->flags;
  });
}
cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned flags) {
  return runtime_call("cudaMallocManaged",
                      [&](Context& c) { required(memory) = c.memory().allocate_managed(bytes, flags); });
}
cudaError_t cudaMallocPitch(void** memory, std::size_t* pitch, std::size_t width, std::size_t height) {
  return runtime_call("cudaMallocPitch", [&](Context& c) {
    required(memory);
    std::uint64_t bytes = 0;
    *memory = reinterpret_cast<void*>(c.memory().allocate_pitched(width, height, &bytes));
    required(pitch) = bytes;
  });
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  return runtime_call("cudaMalloc3D", [&](Context& c) {
    std::uint64_t pitch = 0, rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) fail(Error::kOutOfMemory);
    void* address = reinterpret_cast<void*>(c.memory().allocate_pitched(extent.width, rows, &pitch));
    required(memory) = {address, pitch, extent.width, extent.height};
  });
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return runtime_call("cudaMemGetInfo", [&](Context& c) {
    std::uint64_t left = 0, all = 0;
    c.memory().usage(&left, &all);
    if (free != nullptr) *free = left;
    if (total != nullptr) *total = all;
  });
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  return runtime_call("cudaPointerGetAttributes", [&](Context& c) {
    cudaPointerAttributes& out = required(attributes);
    std::memset(&out, 0, sizeof out);
    void* const pointer = const_cast<void*>(memory);
    const Memory::Block* block = c.memory().find(address_of(memory));
    if (block == nullptr) {
      out.type = cudaMemoryTypeUnregistered;
      out.device = -2;  // cudaInvalidDeviceId
      out.hostPointer = c.memory().is_device(address_of(memory)) ? nullptr : pointer;
      return;
    }
    const bool on_device = block->kind == Memory::Kind::kDevice;
    out.type = on_device                               ? cudaMemoryTypeDevice
               : block->kind == Memory::Kind::kManaged ? cudaMemoryTypeManaged
                                                       : cudaMemoryTypeHost;
    out.devicePointer = pointer;
    out.hostPointer = on_device ? nullptr : pointer;
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const cudaError_t result = copy("cudaMemcpy", to, from, bytes, kind, nullptr);
  return result != cudaSuccess ? result : runtime_call("cudaMemcpy", [](Context& c) {
    c.streams().synchronise(c.streams().stream(nullptr));
  });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copy("cudaMemcpyAsync", to, from, bytes, kind, stream);
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  if (to_device != 0 || from_device != 0) return last_error() = cudaErrorInvalidDevice;
  return copy("cudaMemcpyPeer", to, from, bytes, cudaMemcpyDeviceToDevice, nullptr);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy_2d("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr, Host::kWaits);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return copy_2d("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream,
                 Host::kGoesOn);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  return copy_3d("cudaMemcpy3D", copy, nullptr, Host::kWaits);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream) {
  return copy_3d("cudaMemcpy3DAsync", copy, stream, Host::kGoesOn);
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return fill("cudaMemset", memory, 0, 0, value, {bytes, 1, 1}, nullptr);
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return fill("cudaMemsetAsync", memory, 0, 0, value, {bytes, 1, 1}, stream);
}
cudaError_t cudaMemset2D(void* memory, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return fill("cudaMemset2D", memory, pitch, 0, value, {width, height, 1}, nullptr);
}
cudaError_t cudaMemset2DAsync(void* memory, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return fill("cudaMemset2DAsync", memory, pitch, 0, value, {width, height, 1}, stream);
}
cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  return cudaMemset3DAsync(memory, value, extent, nullptr);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent, cudaStream_t stream) {
  return fill("cudaMemset3D", memory.ptr, memory.pitch, memory.pitch * memory.ysize, value,
              {extent.width, extent.height, extent.depth}, stream);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
  return copy_symbol("cudaMemcpyToSymbol", true, symbol, address_of(from), bytes, offset, kind, nullptr,
                     true);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_symbol("cudaMemcpyToSymbolAsync", true, symbol, address_of(from), bytes, offset, kind, stream,
                     false);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind) {
  return copy_symbol("cudaMemcpyFromSymbol", false, symbol, address_of(to), bytes, offset, kind, nullptr,
                     true);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_symbol("cudaMemcpyFromSymbolAsync", false, symbol, address_of(to), bytes, offset, kind, stream,
                     false);
}
cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return runtime_call("cudaGetSymbolAddress", [&](Context& c) {
    required(address) = reinterpret_cast<void*>(variable_of_symbol(c, symbol, nullptr));
  });
}
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return runtime_call("cudaGetSymbolSize", [&](Context& c) {
    std::uint64_t size = 0;
    variable_of_symbol(c, symbol, &size);
    required(bytes) = size;
  });
}
