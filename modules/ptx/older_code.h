// What helps against instructions of newer GPUs: the end of their messages, which a user needs to see once,
// however many kernels of a program are refused.
#ifndef WEFT_PTX_OLDER_CODE_H
#define WEFT_PTX_OLDER_CODE_H

#include <string>
#include <string_view>

namespace weft::ptx {

inline constexpr std::string_view kOlderCodeHelps =
    "; code for older GPUs may do without: nvcc -arch=compute_75";

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
