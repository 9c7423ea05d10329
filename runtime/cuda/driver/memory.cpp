// Memory and copies.
#include "runtime/cuda/core/memory.h"

#include "runtime/cuda/core/images.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/driver/driver.h"

using namespace weft::cuda;

namespace {

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

enum class Sides { kAny, kToDevice, kFromDevice, kDevices };

// A copy in a stream; host memory has no address that the device could mistake for its own.
CUresult copy(const char* name, std::uint64_t to, std::uint64_t from, size_t bytes, CUstream stream,
              Sides sides) {
  return driver_call(name, [&](Context& c) {
    const bool to_device = sides == Sides::kToDevice || sides == Sides::kDevices;
    const bool from_device = sides == Sides::kFromDevice || sides == Sides::kDevices;
    const auto known = [&](std::uint64_t address) {
      return c.memory().is_device(address) || c.memory().find(address) != nullptr;
    };
    if (bytes != 0 && ((to_device && !known(to)) || (from_device && !known(from))))
      fail(Error::kInvalidValue);
    c.streams().copy(to, from, bytes, c.streams().stream(stream));
  });
}

// The same in the default stream; the host waits for it.
CUresult copy(const char* name, std::uint64_t to, std::uint64_t from, size_t bytes, Sides sides) {
  const CUresult result = copy(name, to, from, bytes, nullptr, sides);
  if (result != CUDA_SUCCESS) return result;
  return driver_call(name, [](Context& c) { c.streams().synchronise(c.streams().stream(nullptr)); });
}

// Where an end of a copy begins.
struct Side {
  int type = 0;
  const void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  size_t x = 0, y = 0, z = 0;    // bytes, rows, slices
  size_t pitch = 0, height = 0;  // bytes of a row, rows of a slice
};

End end_of(Context& c, const Side& side) {
  End end;
  end.pitch = side.pitch;
  end.slice = side.pitch * side.height;
  switch (side.type) {
    case CU_MEMORYTYPE_ARRAY:
      end.image = &c.images().array(side.array).image;
      break;
    case CU_MEMORYTYPE_HOST:
      end.address = address_of(side.host);
      break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
      end.address = side.device;
      break;
    default:
      fail(Error::kInvalidValue);
  }
  if (end.image == nullptr && end.address == 0) fail(Error::kInvalidValue);
  return part_of(end, side.x, side.y, side.z);
}

CUresult copy_2d(const char* name, const CUDA_MEMCPY2D* copy, CUstream stream, Host host) {
  return driver_call(name, [&](Context& c) {
    const CUDA_MEMCPY2D& k = required(copy);
    const auto pitch = [&](size_t given) { return given == 0 ? k.WidthInBytes : given; };
    const End to = end_of(c, {k.dstMemoryType, k.dstHost, k.dstDevice, k.dstArray, k.dstXInBytes, k.dstY, 0,
                              pitch(k.dstPitch), 0});
    const End from = end_of(c, {k.srcMemoryType, k.srcHost, k.srcDevice, k.srcArray, k.srcXInBytes, k.srcY, 0,
                                pitch(k.srcPitch), 0});
    c.streams().copy(to, from, {k.WidthInBytes, k.Height, 1}, c.streams().stream(stream), host);
  });
}

CUresult copy_3d(const char* name, const CUDA_MEMCPY3D* copy, CUstream stream, Host host) {
  return driver_call(name, [&](Context& c) {
    const CUDA_MEMCPY3D& k = required(copy);
    if (k.srcLOD != 0 || k.dstLOD != 0) fail(Error::kInvalidValue);  // CUDA driver API, cuMemcpy3D: must be 0
    const auto pitch = [&](size_t given) { return given == 0 ? k.WidthInBytes : given; };
    const auto height = [&](size_t given) { return given == 0 ? k.Height : given; };
    const End to = end_of(c, {k.dstMemoryType, k.dstHost, k.dstDevice, k.dstArray, k.dstXInBytes, k.dstY,
                              k.dstZ, pitch(k.dstPitch), height(k.dstHeight)});
    const End from = end_of(c, {k.srcMemoryType, k.srcHost, k.srcDevice, k.srcArray, k.srcXInBytes, k.srcY,
                                k.srcZ, pitch(k.srcPitch), height(k.srcHeight)});
    c.streams().copy(to, from, {k.WidthInBytes, k.Height, k.Depth}, c.streams().stream(stream), host);
  });
}

CUresult fill(const char* name, CUdeviceptr to, size_t pitch, std::uint32_t value, unsigned bytes_of_value,
              size_t width, size_t height, CUstream stream) {
  return driver_call(name, [&](Context& c) {
    End end;
    end.address = to;
    end.pitch = pitch;
    c.streams().fill(end, {width * bytes_of_value, height, 1}, value, bytes_of_value,
                     c.streams().stream(stream));
  });
}

}  // namespace

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return driver_call("cuMemGetInfo", [&](Context& c) {
    std::uint64_t left = 0, all = 0;
    c.memory().usage(&left, &all);
    if (free != nullptr) *free = left;
    if (total != nullptr) *total = all;
  });
}
CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return driver_call("cuMemAlloc", [&](Context& c) {
    if (bytes == 0) fail(Error::kInvalidValue);
    required(address) = c.memory().allocate(bytes);
  });
}
CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  return driver_call("cuMemAllocPitch", [&](Context& c) {
    if (element != 4 && element != 8 && element != 16) fail(Error::kInvalidValue);
    required(address);
    std::uint64_t bytes = 0;
    *address = c.memory().allocate_pitched(width, height, &bytes);
    required(pitch) = bytes;
  });
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  return driver_call("cuMemFree", [&](Context& c) { c.memory().free(address); });
}
CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  return driver_call("cuMemGetAddressRange", [&](Context& c) {
    const Memory::Block* block = c.memory().find(address);
    if (block == nullptr) fail(Error::kNotFound);
    if (base != nullptr) *base = block->address;
    if (bytes != nullptr) *bytes = block->bytes;
  });
}
CUresult cuMemAllocHost_v2(void** memory, size_t bytes) {
  return cuMemHostAlloc(memory, bytes, 0);
}
CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  return driver_call("cuMemHostAlloc", [&](Context& c) {
    if (bytes == 0) fail(Error::kInvalidValue);
    required(memory) = c.memory().allocate_host(bytes, flags);
  });
}
CUresult cuMemFreeHost(void* memory) {
  return driver_call("cuMemFreeHost", [&](Context& c) { c.memory().free_host(memory); });
}
CUresult cuMemHostGetFlags(unsigned* flags, void* memory) {
  return driver_call("cuMemHostGetFlags", [&](Context& c) {
    const Memory::Block* block = c.memory().find(address_of(memory));
    if (block == nullptr || block->kind == Memory::Kind::kDevice) fail(Error::kInvalidValue);
    required(flags) = block->flags;
  });
}
CUresult cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
  return driver_call("cuMemHostRegister", [&](Context& c) { c.memory().add_host(memory, bytes, flags); });
}
CUresult cuMemHostUnregister(void* memory) {
  return driver_call("cuMemHostUnregister", [&](Context& c) { c.memory().remove_host(memory); });
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* memory, unsigned /*flags*/) {
  return driver_call("cuMemHostGetDevicePointer",
                     [&](Context& c) { required(address) = c.memory().device_address(memory); });
}
CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  return driver_call("cuMemAllocManaged", [&](Context& c) {
    required(address) = address_of(c.memory().allocate_managed(bytes, flags));
  });
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy("cuMemcpy", to, from, bytes, Sides::kAny);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy("cuMemcpyAsync", to, from, bytes, stream, Sides::kAny);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return copy("cuMemcpyHtoD", to, address_of(from), bytes, Sides::kToDevice);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return copy("cuMemcpyDtoH", address_of(to), from, bytes, Sides::kFromDevice);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy("cuMemcpyDtoD", to, from, bytes, Sides::kDevices);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return copy("cuMemcpyHtoDAsync", to, address_of(from), bytes, stream, Sides::kToDevice);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy("cuMemcpyDtoHAsync", address_of(to), from, bytes, stream, Sides::kFromDevice);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy("cuMemcpyDtoDAsync", to, from, bytes, stream, Sides::kDevices);
}
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) {
  return copy_2d("cuMemcpy2D", copy, nullptr, Host::kWaits);
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  return copy_2d("cuMemcpy2DUnaligned", copy, nullptr, Host::kWaits);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy_2d("cuMemcpy2DAsync", copy, stream, Host::kGoesOn);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  return copy_3d("cuMemcpy3D", copy, nullptr, Host::kWaits);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy_3d("cuMemcpy3DAsync", copy, stream, Host::kGoesOn);
}
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return fill("cuMemsetD8", to, 0, value, 1, count, 1, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fill("cuMemsetD8Async", to, 0, value, 1, count, 1, stream);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return fill("cuMemsetD2D8", to, pitch, value, 1, width, height, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return fill("cuMemsetD2D8Async", to, pitch, value, 1, width, height, stream);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return fill("cuMemsetD16", to, 0, value, 2, count, 1, nullptr);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fill("cuMemsetD16Async", to, 0, value, 2, count, 1, stream);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return fill("cuMemsetD2D16", to, pitch, value, 2, width, height, nullptr);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                            CUstream stream) {
  return fill("cuMemsetD2D16Async", to, pitch, value, 2, width, height, stream);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return fill("cuMemsetD32", to, 0, value, 4, count, 1, nullptr);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return fill("cuMemsetD32Async", to, 0, value, 4, count, 1, stream);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height) {
  return fill("cuMemsetD2D32", to, pitch, value, 4, width, height, nullptr);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                            CUstream stream) {
  return fill("cuMemsetD2D32Async", to, pitch, value, 4, width, height, stream);
}

// CU_POINTER_ATTRIBUTE_*: 1 context, 2 memory type, 3 device address, 4 host address, 8 managed, 9 device
// number, 11 first address of its allocation, 12 bytes of that
CUresult cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address) {
  return driver_call("cuPointerGetAttribute", [&](Context& c) {
    if (value == nullptr) fail(Error::kInvalidValue);
    const Memory::Block* block = c.memory().find(address);
    if (block == nullptr) fail(Error::kInvalidValue);
    const bool on_device = block->kind == Memory::Kind::kDevice;
    switch (attribute) {
      case 1:
        *static_cast<void**>(value) = &c;
        break;
      case 2:
        *static_cast<unsigned*>(value) = on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        break;
      case 3:
        *static_cast<CUdeviceptr*>(value) = address;
        break;
      case 4:
        if (on_device) fail(Error::kInvalidValue);
        *static_cast<CUdeviceptr*>(value) = address;
        break;
      case 8:
        *static_cast<unsigned*>(value) = block->kind == Memory::Kind::kManaged ? 1 : 0;
        break;
      case 9:
        *static_cast<int*>(value) = 0;
        break;
      case 11:
        *static_cast<CUdeviceptr*>(value) = block->address;
        break;
      case 12:
        *static_cast<std::size_t*>(value) = block->bytes;
        break;
      default:
        fail(Error::kNotSupported);
    }
  });
}
