// Errors of the CUDA front ends. Driver and runtime API number them alike; only some names differ.
#ifndef WEFT_RUNTIME_CUDA_CORE_ERROR_H
#define WEFT_RUNTIME_CUDA_CORE_ERROR_H

#include <string>

#include "weft/common/fault.h"

namespace weft::cuda {

enum class Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInitialization = 3,
  kInvalidConfiguration = 9,  // runtime API only, like all below 100 but for 1 to 4
  kInvalidPitch = 12,
  kInvalidSymbol = 13,
  kInvalidChannelDescriptor = 20,
  kInvalidDirection = 21,
  kMissingConfiguration = 52,
  kInvalidDeviceFunction = 98,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinary = 209,
  kUnsupportedLimit = 215,
  kPeerUnsupported = 217,
  kInvalidPtx = 218,
  kFileNotFound = 301,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kOutOfResources = 701,
  kTimeout = 702,
  kPeerNotEnabled = 705,
  kAssert = 710,
  kHostRegistered = 712,
  kHostNotRegistered = 713,
  kStackError = 714,
  kIllegalInstruction = 715,
  kMisaligned = 716,
  kAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailure = 719,
  kCooperativeTooLarge = 720,
  kNotPermitted = 800,
  kNotSupported = 801,
  kUnknown = 999
};

// Ends an API call with `error`. A report, if there is one, goes to standard error: for what a user must know
// to go on, not for what a program may try and handle.
struct Failure {
  Error error = Error::kUnknown;
  std::string report;
};
[[noreturn]] inline void fail(Error error, std::string report = "") {
  throw Failure{error, std::move(report)};
}

struct ErrorText {
  int value;
  const char *runtime_name, *driver_name;  // "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE"
  const char* text;
};
// nullptr: no such error.
const ErrorText* describe(int error);

// The error that stands for a fault of the GPU.
Error error_of(FaultKind fault);

}  // namespace weft::cuda

#endif
