// The schemes among the parts that are known.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "weft/common/error.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

// No key of the configuration that schemes' names stand beside.
void check(const Scheme& scheme) {
  for (const char* key :
       {"scheme", "warp_size", "scheduling", "reconvergence", "likely_convergence", "two_level"}) {
    if (scheme.name == key)
      throw InputError("scheme \"" + scheme.name + "\"", "is a key of warp_formation; allowed: another name");
  }
  if (scheme.make == nullptr) throw InputError("scheme " + scheme.name, "has no function that makes it");
  if (scheme.states.size() > kOwnStates) {
    throw InputError("scheme " + scheme.name,
                     "has " + std::to_string(scheme.states.size()) +
                         " waiting states of its own; allowed: " + std::to_string(kOwnStates));
  }
}

// Those that are linked are checked at the first use.
std::vector<std::shared_ptr<const Part>> schemes() {
  static const bool checked = [] {
    for (const auto& part : parts_of(Scheme::kKind)) check(static_cast<const Scheme&>(*part));
    return true;
  }();
  static_cast<void>(checked);
  return parts_of(Scheme::kKind);
}

}  // namespace

void register_scheme(Scheme scheme) {
  check(scheme);
  add_part(Scheme::kKind, std::make_shared<const Scheme>(std::move(scheme)));
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
  for (const auto& part : schemes()) {
    if (part->name == name) return static_cast<const Scheme*>(part.get());
  }
  return nullptr;
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
  for (const auto& part : schemes()) {
    const auto& scheme = static_cast<const Scheme&>(*part);
    if (scheme.defaults != nullptr) add(scheme.name, scheme.meaning, *scheme.defaults);
  }
}

}  // namespace weft::warp_formation
