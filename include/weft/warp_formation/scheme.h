// What a scheme says about itself, and how it becomes known: in one file, at its end.
//
//   WEFT_REGISTER_SCHEME(scheme<Mine, MineOptions>("mine", "what it is, in a line"))
//
// The file is part of Weft (a line in CMakeLists.txt), of a program that links Weft, or of a plugin
// (plugins.h); it is the same file. Nothing runs before main() for it: the macro puts a pointer to a function
// into a section of the object file, and the linker makes a table of these.
#ifndef WEFT_WARP_FORMATION_SCHEME_H
#define WEFT_WARP_FORMATION_SCHEME_H

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weft/warp_formation/warp_formation.h"
#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

using Factory = std::function<std::unique_ptr<WarpFormation>(const Config&, const Geometry&)>;

struct Scheme {
  std::string name;     // lower case, as a JSON key
  std::string meaning;  // of the JSON object with its keys
  Factory make;
  std::shared_ptr<const SchemeOptions> defaults;  // null: it has no keys of its own
  // Waiting states of its threads that others do not have, at most kOwnStates, in the order of Census::own.
  std::vector<std::string> states;
  // The key of a size by which variants are called: NAME-N is NAME with that key = N. Empty: none.
  std::string size_key;

  Scheme&& with_state(std::string state) && { return states.push_back(std::move(state)), std::move(*this); }
  Scheme&& with_size_key(std::string key) && { return size_key = std::move(key), std::move(*this); }
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

// Takes schemes from whoever brings them.
class Registrar {
 public:
  virtual ~Registrar() = default;
  // Throws InputError if the name is taken, or is no name.
  virtual void add(Scheme scheme) = 0;
};

// What WEFT_REGISTER_SCHEME leaves in an object file.
using SchemeSource = Scheme (*)();

// Throws InputError that lists the known names.
std::unique_ptr<WarpFormation> create(const Config& config, const Geometry& geometry);
// In alphabetical order.
std::vector<std::string> scheme_names();
// "crown, dwf, ...", for messages.
std::string known_schemes();
// Null: there is none. It stays where it is.
const Scheme* find_scheme(const std::string& name);
// For a program's own scheme without the macro. Throws as Registrar::add.
void register_scheme(Scheme scheme);

// Schemes of one object file stay in the order of the source.
#if __has_attribute(no_reorder)
#define WEFT_SCHEME_ENTRY_ __attribute__((used, section("weft_schemes"), no_reorder))
#else
#define WEFT_SCHEME_ENTRY_ __attribute__((used, section("weft_schemes")))
#endif
#define WEFT_CONCATENATE_(a, b) a##b
#define WEFT_REGISTER_SCHEME_(number, ...)                                                           \
  namespace {                                                                                        \
  ::weft::warp_formation::Scheme WEFT_CONCATENATE_(scheme_, number)() {                              \
    return __VA_ARGS__;                                                                              \
  }                                                                                                  \
  WEFT_SCHEME_ENTRY_ const ::weft::warp_formation::SchemeSource WEFT_CONCATENATE_(source_, number) = \
      &WEFT_CONCATENATE_(scheme_, number);                                                           \
  }
#define WEFT_REGISTER_SCHEME_EXPAND_(number, ...) WEFT_REGISTER_SCHEME_(number, __VA_ARGS__)
// __COUNTER__, and no name of the scheme's: several files may be compiled as one.
#define WEFT_REGISTER_SCHEME(...) WEFT_REGISTER_SCHEME_EXPAND_(__COUNTER__, __VA_ARGS__)

}  // namespace weft::warp_formation

#endif
