// A configuration struct -> JSON Schema (draft 7) of the files it reads, for editors and validators.
//
// Every key has its type, range or words, default, and a description with its unit; unknown keys are not
// allowed, as in the reader. Rules that join several fields (a struct's `check`) are beyond the schema.
#ifndef WEFT_COMMON_CONFIG_SCHEMA_H
#define WEFT_COMMON_CONFIG_SCHEMA_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "weft/common/config_visitor.h"

namespace weft::config {

class SchemaBuilder : public Visitor {
 public:
  explicit SchemaBuilder(const std::string& title);
  SchemaBuilder(const SchemaBuilder&) = delete;
  SchemaBuilder& operator=(const SchemaBuilder&) = delete;

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
  // The schema of `key` in the current object, with its type and description.
  nlohmann::ordered_json& add(const char* key, const char* type, const char* unit, const char* meaning);

  nlohmann::ordered_json document_;
  // Schemas of the open objects. Only the innermost grows, so the outer addresses stay valid.
  std::vector<nlohmann::ordered_json*> levels_;
};

// The schema of `Config`; the given values become the defaults.
template <class Config>
nlohmann::ordered_json schema(Config config, const std::string& title) {
  SchemaBuilder builder(title);
  config.describe(builder);
  return builder.document();
}

}  // namespace weft::config

#endif
