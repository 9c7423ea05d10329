#include "common/config_document.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "common/input_file.h"
#include "weft/common/error.h"

namespace weft::config {
namespace {

using nlohmann::json;

std::string position(const std::string& text, std::size_t byte, const std::string& file) {
  // nlohmann counts the offending byte from 1; 0 and one past the end occur too.
  const std::size_t offset = std::min(byte > 0 ? byte - 1 : 0, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  const std::size_t newline = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
  const std::size_t column = newline == std::string::npos ? offset + 1 : offset - newline;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

// The parser's own message without its "[json.exception...] parse error at line 1, column 2: ".
std::string plain_message(const std::string& what) {
  std::size_t start = what.find("] ");
  start = start == std::string::npos ? 0 : start + 2;
  const std::size_t column = what.find(", column ", start);
  if (column != std::string::npos) {
    const std::size_t colon = what.find(": ", column);
    if (colon != std::string::npos) start = colon + 2;
  }
  return what.substr(start);
}

// Watches the parser's events for what the standard leaves open: repeated keys and the depth.
class Strictness {
 public:
  explicit Strictness(std::string file) : file_(std::move(file)) {}

  bool operator()(int depth, json::parse_event_t event, const json& value) {
    if (depth > kMaximumNesting) {
      throw InputError(file_, "nested deeper than " + std::to_string(kMaximumNesting) + " levels");
    }
    if (event == json::parse_event_t::object_start) keys_.emplace_back();
    if (event == json::parse_event_t::object_end) keys_.pop_back();
    if (event == json::parse_event_t::key) {
      const auto& name = value.get_ref<const std::string&>();
      if (!keys_.back().insert(name).second) {
        throw InputError(file_, "the key \"" + name + "\" occurs twice in one object; allowed: once");
      }
    }
    return true;
  }

 private:
  std::string file_;
  std::vector<std::set<std::string>> keys_;
};

const char* type_name(const json& value) {
  switch (value.type()) {
    case json::value_t::null:
      return "null";
    case json::value_t::object:
      return "an object";
    case json::value_t::array:
      return "an array";
    case json::value_t::string:
      return "a string";
    case json::value_t::boolean:
      return "a boolean";
    case json::value_t::number_integer:
    case json::value_t::number_unsigned:
      return "an integer";
    case json::value_t::number_float:
      return "a real number";
    default:
      return "no JSON value";
  }
}

}  // namespace

json read(const std::string& text, const std::string& file) {
  if (text.size() > kMaximumBytes) {
    throw InputError(file, "has " + std::to_string(text.size()) + " bytes; allowed: at most " +
                               std::to_string(kMaximumBytes));
  }
  try {
    return json::parse(text, Strictness(file));
  } catch (const json::parse_error& error) {
    throw InputError(position(text, error.byte, file), plain_message(error.what()));
  } catch (const json::exception& error) {
    throw InputError(file, plain_message(error.what()));
  }
}

json read_file(const std::string& path) {
  return read(read_input(path, kMaximumBytes), path);
}

namespace {

// Puts `value` at `place`, whose pointer is `pointer`, key by key where it is an object. Adds the pointers of
// what it made or replaced, unless that lies below `made`, which the path made already.
void assign(json& place, const json& value, const std::string& pointer, bool made, Override& result) {
  if (!value.is_object()) {
    place = value;
    if (!made) result.pointers.push_back(pointer);
    return;
  }
  if (value.empty() && !result.option.empty())
    throw InputError(result.origin(), "sets no key; allowed: a value, or an object with the keys to set");
  // What is no object gives way as a whole.
  if (!place.is_object()) {
    place = json::object();
    if (!made) result.pointers.push_back(pointer);
    made = true;
  }
  for (const auto& [key, inner] : value.items()) {
    const bool there = place.contains(key);
    const std::string below = join_pointer(pointer, key);
    if (!there && !made) result.pointers.push_back(below);
    assign(place[key], inner, below, made || !there, result);
  }
}

}  // namespace

Override apply_override(json& document, const std::string& text, const std::string& option) {
  const std::string where = option + " " + text;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(where, "allowed: path=value, such as sm.l1d.sets=64");
  }
  const std::string path = text.substr(0, equals);
  const std::string written = text.substr(equals + 1);
  json value = json::parse(written, Strictness(where), false);
  if (value.is_discarded()) value = written;

  Override result{text, {}, option};
  json* place = &document;
  std::string pointer;
  bool made = false;
  if (std::count(path.begin(), path.end(), '.') >= kMaximumNesting) {
    throw InputError(where, "deeper than " + std::to_string(kMaximumNesting) + " levels");
  }
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    if (key.empty()) throw InputError(where, "the path \"" + path + "\" has an empty level");
    if (!place->is_object()) {
      throw InputError(where, (pointer.empty() ? "the document" : pointer) + " is " + found(*place) +
                                  ", not an object: it has no \"" + key + "\"");
    }
    pointer = join_pointer(pointer, key);
    const bool last = end == path.size();
    if (!made && !place->contains(key)) {
      made = true;
      result.pointers.push_back(pointer);
    }
    place = &(*place)[key];
    if (!last && place->is_null()) *place = json::object();
    begin = end + 1;
  }
  assign(*place, value, pointer, made, result);
  return result;
}

Override apply_layer(json& document, const json& layer, const std::string& file) {
  Override result{file, {}, ""};
  assign(document, layer, "", false, result);
  return result;
}

std::string join_pointer(const std::string& path, const std::string& key) {
  std::string result = path + "/";
  for (const char c : key) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

std::string found(const json& value) {
  constexpr std::size_t kLongest = 60;
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kLongest) {
    std::size_t length = kLongest;
    // Not in the middle of a UTF-8 sequence: its later bytes are 10xxxxxx.
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U) --length;
    text = text.substr(0, length) + "...";
  }
  return value.is_null() ? text : text + " (" + type_name(value) + ")";
}

}  // namespace weft::config
