// The text of a configuration: JSON from a file or a string, and `--set path=value` on top of it.
//
//   nlohmann::json document = config::read_file("configs/gtx480.json");
//   std::vector<config::Override> overrides{config::apply_override(document, "sm.l1d.sets=64")};
//   config::load(gpu_config, document, "configs/gtx480.json", overrides);       // config_reader.h
//
// Strict JSON (no comments); a key that occurs twice in one object, more than kMaximumNesting levels and more
// than kMaximumBytes are errors. Every error is an InputError.
#ifndef WEFT_COMMON_CONFIG_DOCUMENT_H
#define WEFT_COMMON_CONFIG_DOCUMENT_H

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace weft::config {

inline constexpr std::size_t kMaximumBytes = std::size_t{16} << 20;
inline constexpr int kMaximumNesting = 64;

// Parses `text`. Syntax errors name `file:line:column`.
nlohmann::json read(const std::string& text, const std::string& file);

// The same from a file; InputError if it cannot be read.
nlohmann::json read_file(const std::string& path);

// One `--set`: what the user wrote, and the JSON pointers of the shallowest values that it made or replaced.
// The reader uses them to blame the option, not the file, for what came from the option.
struct Override {
  std::string text;
  std::vector<std::string> pointers;
  std::string option = "--set";  // or who else gave it, for messages; empty: `text` is a file

  // "--set sm.count=4", or the file.
  std::string origin() const { return option.empty() ? text : option + " " + text; }
};

// Applies "sm.l1d.sets=64" to `document`: levels are separated by dots, missing objects are made. The value
// is read as JSON if it is JSON (64, true, "text", {"sets": 8}), else as a plain string (greedy_then_oldest).
// An object sets each of its keys, and leaves its other keys as they are. Whether the path is known is the
// reader's business. InputError on a missing '=', an empty level, a level below a non-object, or an object
// that sets nothing. `option` is who gave it.
Override apply_override(nlohmann::json& document, const std::string& text,
                        const std::string& option = "--set");

// Applies the values of `layer`, an object, to `document`: a file on top of another one. Objects are joined
// key by key. The result blames `file`.
Override apply_layer(nlohmann::json& document, const nlohmann::json& layer, const std::string& file);

// `path` extended by `key`, as a JSON pointer (RFC 6901).
std::string join_pointer(const std::string& path, const std::string& key);

// A value for messages: `64 (an integer)`, shortened if long.
std::string found(const nlohmann::json& value);

}  // namespace weft::config

#endif
