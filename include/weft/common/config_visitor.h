// How a module declares its configuration: once, and for every use.
//
//   struct Config {
//     std::uint64_t sets = 64;
//     Policy policy = Policy::kLru;
//     void describe(config::Visitor& v) {
//       v.integer("sets", sets, {1, 65536}, "sets", "number of cache sets; a power of two");
//       config::choice(v, "replacement", policy, {{"lru", Policy::kLru}, {"fifo", Policy::kFifo}}, "victim");
//     }
//   };
//
// The same `describe` reads a JSON file (unknown keys, wrong types and values out of range are errors),
// writes the effective configuration, and makes the JSON Schema. Rules that join several fields go into
// `check(where)`, which throws InputError(where + "/key", ...).
#ifndef WEFT_COMMON_CONFIG_VISITOR_H
#define WEFT_COMMON_CONFIG_VISITOR_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::config {

struct IntegerRange {
  std::uint64_t low = 0;
  std::uint64_t high = UINT64_MAX;
};

// No restriction unless low < high.
struct RealRange {
  double low = 0;
  double high = 0;
};

class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void integer(const char* key, std::uint64_t& value, IntegerRange allowed, const char* unit,
                       const char* meaning) = 0;
  virtual void real(const char* key, double& value, RealRange allowed, const char* unit,
                    const char* meaning) = 0;
  virtual void boolean(const char* key, bool& value, const char* meaning) = 0;
  virtual void text(const char* key, std::string& value, const char* meaning) = 0;
  // One of `allowed`; the value is left as it is when the key is absent.
  virtual void word(const char* key, std::string& value, const std::vector<std::string>& allowed,
                    const char* meaning) = 0;
  // A text that stands for values of other keys. Who loads a configuration replaces it by these values before
  // anything is read, so an effective configuration does not have it.
  virtual void preset(const char* key, const char* meaning) = 0;
  // Everything between `begin` and `end` belongs to the JSON object `key`.
  virtual void begin(const char* key, const char* meaning) = 0;
  virtual void end() = 0;
};

template <class Enum>
void choice(Visitor& v, const char* key, Enum& value, const std::vector<std::pair<const char*, Enum>>& words,
            const char* meaning) {
  std::vector<std::string> allowed;
  std::string current;
  for (const auto& [name, meant] : words) {
    allowed.emplace_back(name);
    if (meant == value) current = name;
  }
  v.word(key, current, allowed, meaning);
  for (const auto& [name, meant] : words) {
    if (current == name) value = meant;
  }
}

template <class Part>
void group(Visitor& v, const char* key, Part& part, const char* meaning) {
  v.begin(key, meaning);
  part.describe(v);
  v.end();
}

}  // namespace weft::config

#endif
