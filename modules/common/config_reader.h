// JSON -> a configuration struct, through the struct's own `describe` (config_visitor.h).
//
//   GpuConfig config;                                      // its initialisers are the defaults
//   config::load(config, config::read_file(path), path);   // absent keys keep their defaults
//
// Unknown keys, wrong types and values out of range throw an InputError such as
//   gtx480.json: /sm/l1d/sets: is 0 (an integer); allowed: an integer from 1 to 65536 (sets)
//   gtx480.json: /sm/l1d: unknown key "setz"; did you mean "sets"? allowed: enabled, sets, ways
// A value that came from `--set` blames the option. Rules that join several fields are the struct's `check`
// (config_origins.h says where such values come from).
#ifndef WEFT_COMMON_CONFIG_READER_H
#define WEFT_COMMON_CONFIG_READER_H

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/config_document.h"
#include "common/config_origins.h"
#include "weft/common/config_visitor.h"

namespace weft::config {

class Reader : public Visitor {
 public:
  // Keeps references to all three. InputError if the document is not an object.
  Reader(const nlohmann::json& document, const std::string& file, const std::vector<Override>& overrides);

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

  // To call when everything is described: refuses keys that nobody asked for.
  void finish() const;

 private:
  // What the struct knows. It is kept until `finish`, so that two parts may describe one object.
  struct Known {
    std::vector<std::string> order;
    std::map<std::string, std::unique_ptr<Known>> keys;
    Known& add(const std::string& key);
  };
  struct Level {
    const nlohmann::json* object;  // null: the document does not have it
    Known* known;
    std::string pointer;
  };

  const nlohmann::json* find(const char* key);
  std::string where(const std::string& pointer) const;
  [[noreturn]] void refuse(const char* key, const nlohmann::json& value, const std::string& allowed) const;
  void refuse_unknown(const nlohmann::json& object, const Known& known, const std::string& pointer) const;

  const Origins origins_;
  Known root_;
  std::vector<Level> levels_;
};

// Fills `config` from `document`; `file` and `overrides` serve the messages. On an error `config` is
// unchanged.
template <class Config>
void load(Config& config, const nlohmann::json& document, const std::string& file,
          const std::vector<Override>& overrides = {}) {
  Config loaded = config;
  Reader reader(document, file, overrides);
  loaded.describe(reader);
  reader.finish();
  config = std::move(loaded);
}

}  // namespace weft::config

#endif
