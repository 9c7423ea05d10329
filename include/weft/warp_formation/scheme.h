// What a scheme says about itself, and how it becomes known: in one file, at its end.
//
//   WEFT_REGISTER_SCHEME(scheme<Mine, MineOptions>("mine", "what it is, in a line"))
//
// The file is part of Weft (a line in CMakeLists.txt), of a program that links Weft, or of a plugin
// (plugins.h); it is the same file. A scheme is a part like others (weft/common/parts.h), and becomes known
// as they do.
#ifndef WEFT_WARP_FORMATION_SCHEME_H
#define WEFT_WARP_FORMATION_SCHEME_H

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weft/common/parts.h"
#include "weft/warp_formation/warp_formation.h"
#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

using Factory = std::function<std::unique_ptr<WarpFormation>(const Config&, const Geometry&)>;

// `name` is a JSON key; `meaning` is that of the JSON object with its keys.
struct Scheme : Part {
  static constexpr const char* kKind = "scheme";
  Factory make;
  std::shared_ptr<const SchemeOptions> defaults;  // null: it has no keys of its own
  // Waiting states of its threads that others do not have, at most kOwnStates, in the order of Census::own.
  std::vector<std::string> states;
  // The key of a size by which variants are called: NAME-N is NAME with that key = N. Empty: none.
  std::string size_key;
  bool issues_beside = false;  // WarpFormation::issues_at_once is more than 1

  Scheme&& with_state(std::string state) && { return states.push_back(std::move(state)), std::move(*this); }
  Scheme&& with_size_key(std::string key) && { return size_key = std::move(key), std::move(*this); }
  Scheme&& that_issues_beside() && { return issues_beside = true, std::move(*this); }
};

// A class that is made of (const Config&, const Geometry&).
template <class Class>
Scheme scheme(std::string name) {
  Scheme made;
  made.name = std::move(name);
  made.make = [](const Config& config, const Geometry& geometry) {
    return std::unique_ptr<WarpFormation>(std::make_unique<Class>(config, geometry));
  };
  return made;
}
// ... of (const Own&, const Config&, const Geometry&).
template <class Class, class Own>
Scheme scheme(std::string name, std::string meaning) {
  Scheme made;
  made.name = std::move(name);
  made.meaning = std::move(meaning);
  made.defaults = std::make_shared<const Own>();
  made.make = [](const Config& config, const Geometry& geometry) {
    return std::unique_ptr<WarpFormation>(
        std::make_unique<Class>(config.template own<Own>(), config, geometry));
  };
  return made;
}

// Throws InputError that lists the known names.
std::unique_ptr<WarpFormation> create(const Config& config, const Geometry& geometry);
// In alphabetical order.
std::vector<std::string> scheme_names();
// "crown, dwf, ...", for messages.
std::string known_schemes();
// Null: there is none. It stays where it is.
const Scheme* find_scheme(const std::string& name);
// For a program's own scheme without the macro. Throws InputError if the name is taken, or is no name.
void register_scheme(Scheme scheme);

inline void give_scheme(PartTaker& taker, Scheme scheme) {
  taker.take(Scheme::kKind, std::make_shared<const Scheme>(std::move(scheme)));
}

#define WEFT_REGISTER_SCHEME(...) WEFT_REGISTER_WITH_(::weft::warp_formation::give_scheme, __VA_ARGS__)

}  // namespace weft::warp_formation

#endif
