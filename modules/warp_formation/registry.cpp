// The schemes that are known: those that the linker put together (WEFT_REGISTER_SCHEME), then those that a
// program or a plugin adds.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "warp_formation/scheme_table.h"
#include "weft/common/error.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

using Schemes = std::vector<std::unique_ptr<const Scheme>>;

const Scheme* find(const Schemes& schemes, const std::string& name) {
  const auto found =
      std::find_if(schemes.begin(), schemes.end(), [&](const auto& scheme) { return scheme->name == name; });
  return found == schemes.end() ? nullptr : found->get();
}

// No key of the configuration that schemes' names stand beside.
bool is_key(const std::string& name) {
  for (const char* other :
       {"scheme", "warp_size", "scheduling", "reconvergence", "likely_convergence", "two_level"}) {
    if (name == other) return false;
  }
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

void add(Schemes& schemes, Scheme scheme) {
  if (!is_key(scheme.name))
    throw InputError("scheme \"" + scheme.name + "\"",
                     "is not a name of a scheme; allowed: letters a to z, digits and _, but no other key of "
                     "warp_formation");
  if (scheme.make == nullptr) throw InputError("scheme " + scheme.name, "has no function that makes it");
  if (scheme.states.size() > kOwnStates) {
    throw InputError("scheme " + scheme.name,
                     "has " + std::to_string(scheme.states.size()) +
                         " waiting states of its own; allowed: " + std::to_string(kOwnStates));
  }
  if (find(schemes, scheme.name) != nullptr) throw InputError("scheme " + scheme.name, "duplicate name");
  schemes.push_back(std::make_unique<const Scheme>(std::move(scheme)));
}

// Made at the first use; it grows when schemes are added, and is constant otherwise. Never destroyed: results
// are written while a program exits.
Schemes& schemes() {
  static auto* const known = [] {
    auto* linked = new Schemes;
    each_linked_scheme([&](Scheme scheme) { add(*linked, std::move(scheme)); });
    return linked;
  }();
  return *known;
}

}  // namespace

void register_scheme(Scheme scheme) {
  add(schemes(), std::move(scheme));
}

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const auto& scheme : schemes()) names.push_back(scheme->name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string known_schemes() {
  std::string known;
  for (const auto& name : scheme_names()) known += (known.empty() ? "" : ", ") + name;
  return known;
}

const Scheme* find_scheme(const std::string& name) {
  return find(schemes(), name);
}

std::unique_ptr<WarpFormation> create(const Config& config, const Geometry& geometry) {
  const Scheme* const scheme = find_scheme(config.scheme);
  if (scheme == nullptr) {
    throw InputError("/warp_formation/scheme",
                     "unknown scheme \"" + config.scheme + "\"; known: " + known_schemes());
  }
  if (scheme->defaults == nullptr || config.options.find(config.scheme) != nullptr)
    return scheme->make(config, geometry);
  // The configuration is older than the scheme.
  Config complete = config;
  complete.options.add(scheme->name, scheme->meaning, *scheme->defaults);
  return scheme->make(complete, geometry);
}

OptionTable::OptionTable() {
  for (const auto& scheme : schemes()) {
    if (scheme->defaults != nullptr) add(scheme->name, scheme->meaning, *scheme->defaults);
  }
}

}  // namespace weft::warp_formation
