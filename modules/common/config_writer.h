// A configuration struct -> JSON: the effective configuration that is written beside every result.
//
//   std::ofstream("config.json") << config::write(gpu_config).dump(2);
//
// The keys come in the order of the struct's `describe`; reading the result back gives the same struct.
#ifndef WEFT_COMMON_CONFIG_WRITER_H
#define WEFT_COMMON_CONFIG_WRITER_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "weft/common/config_visitor.h"

namespace weft::config {

class Writer : public Visitor {
 public:
  Writer() : levels_{&document_} {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void integer(const char* key, std::uint64_t& value, IntegerRange allowed, const char* unit,
               const char* meaning) override;
  void real(const char* key, double& value, RealRange allowed, const char* unit,
            const char* meaning) override;
  void boolean(const char* key, bool& value, const char* meaning) override;
  void text(const char* key, std::string& value, const char* meaning) override;
  void word(const char* key, std::string& value, const std::vector<std::string>& allowed,
            const char* meaning) override;
  void preset(const char* key, const char* meaning) override;
  void begin(const char* key, const char* meaning) override;
  void end() override;

  // What was described; std::logic_error while a `begin` is open.
  const nlohmann::ordered_json& document() const;

 private:
  nlohmann::ordered_json document_ = nlohmann::ordered_json::object();
  // Only the innermost object grows, so the outer addresses stay valid.
  std::vector<nlohmann::ordered_json*> levels_;
};

template <class Config>
nlohmann::ordered_json write(Config config) {
  Writer writer;
  config.describe(writer);
  return writer.document();
}

}  // namespace weft::config

#endif
