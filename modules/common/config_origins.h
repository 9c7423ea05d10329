// Where the values of a configuration come from, for messages: an option, a file, or nobody.
#ifndef WEFT_COMMON_CONFIG_ORIGINS_H
#define WEFT_COMMON_CONFIG_ORIGINS_H

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/config_document.h"
#include "weft/common/error.h"

namespace weft::config {

class Origins {
 public:
  // Keeps references to all three.
  Origins(const nlohmann::json& document, const std::string& file, const std::vector<Override>& overrides)
      : document_(document), file_(file), overrides_(overrides) {}

  // "--set sm.count=4", or the file, which also stands for what nobody gave.
  std::string of(const std::string& pointer) const;
  // Calls `rules`, a struct's `check("")`. An InputError of it gets the origins of its values:
  //   --set sm.max_threads=16: /warp_formation/warp_size: found 32, allowed is at most sm.max_threads = 16
  //   (/warp_formation/warp_size is the default, /sm/max_threads from --set sm.max_threads=16)
  void check(const std::function<void()>& rules) const;

 private:
  const Override* set_by(const std::string& pointer) const;

  const nlohmann::json& document_;
  const std::string& file_;
  const std::vector<Override>& overrides_;
};

}  // namespace weft::config

#endif
