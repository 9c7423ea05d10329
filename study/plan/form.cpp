#include "study/plan/form.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>

#include "study/terminal/table.h"

namespace weft::study {

using nlohmann::ordered_json;

namespace shapes {
namespace {

std::string short_text(double number) {
  std::ostringstream out;
  out << number;
  return out.str();
}

}  // namespace

Shape text() {
  return {{{"type", "string"}, {"minLength", 1}}, "text"};
}
Shape setting() {
  return {{{"type", "string"}, {"pattern", "^[^=]+="}}, "`path=value`"};
}
Shape flag() {
  return {{{"type", "boolean"}}, "true or false"};
}
Shape number() {
  return {{{"type", "number"}}, "number"};
}
Shape at_least(double low) {
  return {{{"type", "number"}, {"minimum", low}}, "number from " + short_text(low)};
}
Shape above(double low) {
  return {{{"type", "number"}, {"exclusiveMinimum", low}}, "number above " + short_text(low)};
}
Shape between(double low, double high) {
  return {{{"type", "number"}, {"exclusiveMinimum", low}, {"exclusiveMaximum", high}},
          "number between " + short_text(low) + " and " + short_text(high)};
}
Shape whole(std::uint64_t low, std::uint64_t high) {
  return {{{"type", "integer"}, {"minimum", low}, {"maximum", high}},
          "whole number from " + std::to_string(low) + " to " + std::to_string(high)};
}
Shape plain() {
  return {{{"type", {"number", "string", "boolean"}}}, "number, text, true or false"};
}
Shape nothing() {
  return {{{"type", "null"}}, "null"};
}

Shape one_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text.append(i == 0 ? "`" : i + 1 == words.size() ? " or `" : ", `").append(words[i]).append("`");
  return {{{"enum", words}}, text};
}

Shape any_of(const std::vector<Shape>& shapes) {
  Shape all{{{"anyOf", ordered_json::array()}}, ""};
  for (const Shape& shape : shapes) {
    all.schema["anyOf"].push_back(shape.schema);
    all.words.append(all.words.empty() ? "" : "; or ").append(shape.words);
  }
  return all;
}

Shape list(const Shape& item, std::size_t least) {
  return {{{"type", "array"}, {"minItems", least}, {"items", item.schema}},
          "list" + std::string(least == 0 ? ", may be empty, of " : " of ") + item.words};
}

Shape list_of(std::size_t number, const Shape& item) {
  return {{{"type", "array"}, {"minItems", number}, {"maxItems", number}, {"items", item.schema}},
          std::to_string(number) + " of " + item.words};
}

Shape map(const Shape& value, std::size_t least) {
  return {{{"type", "object"}, {"minProperties", least}, {"additionalProperties", value.schema}},
          "object of names" + std::string(least == 0 ? ", may be empty, each with " : ", each with ") +
              value.words};
}

Shape form(const std::string& name) {
  std::string anchor;  // as Markdown makes it of a heading
  for (const char c : name)
    anchor += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return {{{"$ref", "#/definitions/" + anchor}}, "[" + name + "](#" + anchor + ")"};
}

}  // namespace shapes

namespace {

constexpr std::size_t kLine = 120;

ordered_json object_of(const Form& form, bool root) {
  ordered_json json{{"type", "object"}};
  if (!form.about.empty()) json["description"] = form.about;
  json["properties"] = ordered_json::object();
  // Editors find the schema by this key of a file.
  if (root) json["properties"]["$schema"] = {{"type", "string"}};
  for (const Key& key : form.keys) {
    ordered_json entry = key.shape.schema;
    if (entry.contains("$ref")) entry = {{"allOf", {entry}}};  // beside a reference nothing counts
    entry["description"] = key.meaning;
    json["properties"][key.name] = std::move(entry);
  }
  if (const auto needed = form.names(true); !needed.empty()) json["required"] = needed;
  json["additionalProperties"] = false;
  return json;
}

ordered_json definition_of(const Form& form) {
  if (form.any_of.empty()) return object_of(form, false);
  ordered_json json = shapes::any_of(form.any_of).schema;
  if (!form.about.empty()) json["description"] = form.about;
  return json;
}

std::string anchor_of(const Form& form) {
  const std::string reference = shapes::form(form.name).schema.at("$ref");
  return reference.substr(reference.rfind('/') + 1);
}

// Text in a cell of a table.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, 1, '\\');
  return text;
}

std::string table_of(const Form& form) {
  std::string text = "| key | needed | value | meaning |\n|---|---|---|---|\n";
  for (const Key& key : form.keys) {
    text.append("| `").append(key.name).append(key.needed ? "` | yes | " : "` | | ");
    text.append(cell(key.shape.words)).append(" | ").append(cell(key.meaning)).append(" |\n");
  }
  return text + "\n";
}

}  // namespace

Key needed(const std::string& name, const Shape& shape, const std::string& meaning) {
  return {name, shape, true, meaning};
}

Key optional(const std::string& name, const Shape& shape, const std::string& meaning) {
  return {name, shape, false, meaning};
}

std::vector<std::string> Form::names(bool needed) const {
  std::vector<std::string> names;
  for (const Key& key : keys) {
    if (key.needed == needed) names.push_back(key.name);
  }
  return names;
}

const Form& FileForm::operator[](std::string_view form) const {
  const auto found =
      std::find_if(forms.begin(), forms.end(), [&](const Form& one) { return one.name == form; });
  if (found == forms.end()) throw std::logic_error(path + " has no form '" + std::string(form) + "'");
  return *found;
}

ordered_json schema_of(const FileForm& file) {
  ordered_json json{{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", file.name},
                    {"description", file.about}};
  const bool is_object = file.whole.schema.is_null();
  json.update(is_object ? object_of(file.forms.front(), true) : file.whole.schema);
  json["definitions"] = ordered_json::object();
  for (const Form& form : file.forms) {
    if (!is_object || &form != &file.forms.front())
      json["definitions"][anchor_of(form)] = definition_of(form);
  }
  return json;
}

std::string reference_of(const FileForm& file) {
  std::string text = "## " + file.name + "\n\n" + wrapped(file.about, kLine) + "\n";
  const bool is_object = file.whole.schema.is_null();
  if (!is_object) text += "The file is: " + file.whole.words + ".\n\n";
  for (const Form& form : file.forms) {
    const bool root = is_object && &form == &file.forms.front();
    if (!root) text += "### " + form.name + "\n\n";
    if (!root && !form.about.empty()) text += wrapped(form.about, kLine) + "\n";
    if (!form.keys.empty()) text += table_of(form);
    for (const Shape& shape : form.any_of) text += "- " + shape.words + "\n";
    if (!form.any_of.empty()) text += "\n";
  }
  return text;
}

}  // namespace weft::study
