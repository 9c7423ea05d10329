// A configuration struct that a program filled in, checked as one that was read from JSON: every range of its
// `describe`.
//
//   config::check_ranges(config, "gpu");   // InputError: gpu: /sm/simd_width: is 3; allowed: an integer from
//   ...
//
// Rules that join several fields are the struct's own `check`, for either.
#ifndef WEFT_COMMON_CONFIG_CHECKER_H
#define WEFT_COMMON_CONFIG_CHECKER_H

#include <string>
#include <vector>

#include "weft/common/config_visitor.h"

namespace weft::config {

class Checker : public Visitor {
 public:
  explicit Checker(const std::string& where) : where_(where), levels_{""} {}

  void integer(const char* key, std::uint64_t& value, IntegerRange allowed, const char* unit,
               const char* meaning) override;
  void real(const char* key, double& value, RealRange allowed, const char* unit,
            const char* meaning) override;
  void boolean(const char*, bool&, const char*) override {}
  void text(const char*, std::string&, const char*) override {}
  void word(const char* key, std::string& value, const std::vector<std::string>& allowed,
            const char* meaning) override;
  void preset(const char* key, const char* meaning) override;
  void begin(const char* key, const char* meaning) override;
  void end() override;

 private:
  [[noreturn]] void refuse(const char* key, const std::string& found, const std::string& allowed) const;

  const std::string where_;
  std::vector<std::string> levels_;  // JSON pointers of the open objects
};

template <class Config>
void check_ranges(Config config, const std::string& where) {
  Checker checker(where);
  config.describe(checker);
}

}  // namespace weft::config

#endif
