#include "runtime/cuda/core/error.h"

#include <algorithm>
#include <array>

namespace weft::cuda {
namespace {

constexpr std::array kErrors{
    ErrorText{0, "cudaSuccess", "CUDA_SUCCESS", "no error"},
    ErrorText{1, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    ErrorText{2, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    ErrorText{3, "cudaErrorInitializationError", "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    ErrorText{4, "cudaErrorCudartUnloading", "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    ErrorText{9, "cudaErrorInvalidConfiguration", nullptr, "invalid configuration argument"},
    ErrorText{12, "cudaErrorInvalidPitchValue", nullptr, "invalid pitch argument"},
    ErrorText{13, "cudaErrorInvalidSymbol", nullptr, "invalid device symbol"},
    ErrorText{17, "cudaErrorInvalidDevicePointer", nullptr, "invalid device pointer"},
    ErrorText{18, "cudaErrorInvalidTexture", nullptr, "invalid texture reference"},
    ErrorText{20, "cudaErrorInvalidChannelDescriptor", nullptr, "invalid channel descriptor"},
    ErrorText{21, "cudaErrorInvalidMemcpyDirection", nullptr, "invalid copy direction for memcpy"},
    ErrorText{35, "cudaErrorInsufficientDriver", nullptr,
              "CUDA driver version is insufficient for CUDA runtime version"},
    ErrorText{52, "cudaErrorMissingConfiguration", nullptr, "__global__ function call is not configured"},
    ErrorText{98, "cudaErrorInvalidDeviceFunction", nullptr, "invalid device function"},
    ErrorText{100, "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    ErrorText{101, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    ErrorText{200, "cudaErrorInvalidKernelImage", "CUDA_ERROR_INVALID_IMAGE",
              "device kernel image is invalid"},
    ErrorText{201, "cudaErrorDeviceUninitialized", "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    ErrorText{209, "cudaErrorNoKernelImageForDevice", "CUDA_ERROR_NO_BINARY_FOR_GPU",
              "no kernel image is available for execution on the device"},
    ErrorText{215, "cudaErrorUnsupportedLimit", "CUDA_ERROR_UNSUPPORTED_LIMIT",
              "limit is not supported on this architecture"},
    ErrorText{217, "cudaErrorPeerAccessUnsupported", "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
              "peer access is not supported between these two devices"},
    ErrorText{218, "cudaErrorInvalidPtx", "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    ErrorText{301, "cudaErrorFileNotFound", "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    ErrorText{400, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    ErrorText{500, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    ErrorText{600, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY", "device not ready"},
    ErrorText{700, "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS",
              "an illegal memory access was encountered"},
    ErrorText{701, "cudaErrorLaunchOutOfResources", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
              "too many resources requested for launch"},
    ErrorText{702, "cudaErrorLaunchTimeout", "CUDA_ERROR_LAUNCH_TIMEOUT",
              "the launch timed out and was terminated"},
    ErrorText{704, "cudaErrorPeerAccessAlreadyEnabled", "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
              "peer access is already enabled"},
    ErrorText{705, "cudaErrorPeerAccessNotEnabled", "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
              "peer access has not been enabled"},
    ErrorText{710, "cudaErrorAssert", "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    ErrorText{712, "cudaErrorHostMemoryAlreadyRegistered", "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
              "part or all of the requested memory range is already mapped"},
    ErrorText{713, "cudaErrorHostMemoryNotRegistered", "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
              "pointer does not correspond to a registered memory region"},
    ErrorText{714, "cudaErrorHardwareStackError", "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
    ErrorText{715, "cudaErrorIllegalInstruction", "CUDA_ERROR_ILLEGAL_INSTRUCTION",
              "an illegal instruction was encountered"},
    ErrorText{716, "cudaErrorMisalignedAddress", "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    ErrorText{717, "cudaErrorInvalidAddressSpace", "CUDA_ERROR_INVALID_ADDRESS_SPACE",
              "operation not supported on global/shared address space"},
    ErrorText{718, "cudaErrorInvalidPc", "CUDA_ERROR_INVALID_PC", "invalid program counter"},
    ErrorText{719, "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    ErrorText{720, "cudaErrorCooperativeLaunchTooLarge", "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
              "too many blocks in cooperative launch"},
    ErrorText{800, "cudaErrorNotPermitted", "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    ErrorText{801, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    ErrorText{999, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN", "unknown error"},
};

}  // namespace

const ErrorText* describe(int error) {
  const auto found =
      std::find_if(kErrors.begin(), kErrors.end(), [&](const ErrorText& e) { return e.value == error; });
  return found == kErrors.end() ? nullptr : &*found;
}

// CUDA driver API, CUresult: what each error stands for.
Error error_of(FaultKind fault) {
  switch (fault) {
    case FaultKind::kNone:
      return Error::kSuccess;
    case FaultKind::kIllegalAddress:
      return Error::kIllegalAddress;
    case FaultKind::kMisalignedAddress:
      return Error::kMisaligned;
    case FaultKind::kIllegalAddressSpace:
      return Error::kAddressSpace;
    case FaultKind::kInvalidPc:
      return Error::kInvalidPc;
    case FaultKind::kIllegalInstruction:
      return Error::kIllegalInstruction;
    case FaultKind::kStackOverflow:
      return Error::kStackError;
    case FaultKind::kAssert:
      return Error::kAssert;
    case FaultKind::kHang:
    case FaultKind::kStopped:  // --max-cycles
      return Error::kTimeout;
    case FaultKind::kTrap:
    case FaultKind::kInvalidFree:
      break;
  }
  return Error::kLaunchFailure;
}

}  // namespace weft::cuda
