// What helps where Weft does not execute an instruction: the end of the message.
#ifndef WEFT_PTX_WHAT_HELPS_H
#define WEFT_PTX_WHAT_HELPS_H

#include <string>
#include <string_view>

namespace weft::ptx {

inline constexpr std::string_view kNoHelp;
inline constexpr std::string_view kWithoutTensorCores = "; Weft has no tensor cores: use code without them";

// Against instructions of newer GPUs. A user needs to see it once, however many kernels of a program are
// refused.
inline constexpr std::string_view kOlderCodeHelps =
    "; code for older GPUs may not need it: nvcc -arch=compute_75";

inline bool names_older_code(const std::string& message) {
  return message.find(kOlderCodeHelps) != std::string::npos;
}
inline std::string without_older_code(std::string message) {
  const auto hint = message.find(kOlderCodeHelps);
  if (hint != std::string::npos) message.erase(hint, kOlderCodeHelps.size());
  return message;
}

}  // namespace weft::ptx

#endif
