#include "common/config_schema.h"

#include <limits>
#include <stdexcept>

namespace weft::config {
namespace {

using nlohmann::ordered_json;

void make_object(ordered_json& schema) {
  if (schema.contains("properties")) return;
  schema["properties"] = ordered_json::object();
  schema["additionalProperties"] = false;
}

}  // namespace

SchemaBuilder::SchemaBuilder(const std::string& title) : levels_{&document_} {
  document_ = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}, {"type", "object"}};
  make_object(document_);
  // Editors find the schema by this key of the configuration file.
  document_["properties"]["$schema"] = {{"type", "string"}};
}

ordered_json& SchemaBuilder::add(const char* key, const char* type, const char* unit, const char* meaning) {
  ordered_json& entry = (*levels_.back())["properties"][key];
  entry["type"] = type;
  entry["description"] = *unit == '\0' ? std::string(meaning) : std::string(meaning) + " [" + unit + "]";
  return entry;
}

void SchemaBuilder::integer(const char* key, std::uint64_t& value, IntegerRange allowed, const char* unit,
                            const char* meaning) {
  ordered_json& entry = add(key, "integer", unit, meaning);
  entry["minimum"] = allowed.low;
  if (allowed.high != std::numeric_limits<std::uint64_t>::max()) entry["maximum"] = allowed.high;
  entry["default"] = value;
}

void SchemaBuilder::real(const char* key, double& value, RealRange allowed, const char* unit,
                         const char* meaning) {
  ordered_json& entry = add(key, "number", unit, meaning);
  if (allowed.low < allowed.high) {
    entry["minimum"] = allowed.low;
    entry["maximum"] = allowed.high;
  }
  entry["default"] = value;
}

void SchemaBuilder::boolean(const char* key, bool& value, const char* meaning) {
  add(key, "boolean", "", meaning)["default"] = value;
}

void SchemaBuilder::text(const char* key, std::string& value, const char* meaning) {
  add(key, "string", "", meaning)["default"] = value;
}

void SchemaBuilder::word(const char* key, std::string& value, const std::vector<std::string>& allowed,
                         const char* meaning) {
  ordered_json& entry = add(key, "string", "", meaning);
  entry["enum"] = allowed;
  entry["default"] = value;
}

void SchemaBuilder::preset(const char* key, const char* meaning) {
  add(key, "string", "", meaning);
}

void SchemaBuilder::begin(const char* key, const char* meaning) {
  ordered_json& entry = add(key, "object", "", meaning);
  make_object(entry);
  levels_.push_back(&entry);
}

void SchemaBuilder::end() {
  if (levels_.size() == 1) throw std::logic_error("config::SchemaBuilder: end() without begin()");
  levels_.pop_back();
}

const ordered_json& SchemaBuilder::document() const {
  if (levels_.size() != 1) throw std::logic_error("config::SchemaBuilder: begin() without end()");
  return document_;
}

}  // namespace weft::config
