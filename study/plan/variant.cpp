#include "study/plan/variant.h"

#include <algorithm>
#include <sstream>

#include "weft/common/error.h"
#include "weft/warp_formation/scheme.h"

namespace weft::study {
namespace {

// ", dwr-N" for each scheme whose variants are called by a size.
std::string sized_names() {
  std::string names;
  for (const auto& name : warp_formation::scheme_names()) {
    if (!warp_formation::find_scheme(name)->size_key.empty()) names += ", " + name + "-N";
  }
  return names;
}

// Settings of the lanes that run a scheme's warps, beside those of the scheme.
constexpr const char* kDatapath = "datapath.";

}  // namespace

Words split(const std::string& option, const std::string& text, char separator) {
  Words parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) {
    if (part.empty())
      throw InputError(option, "found '" + text + "'; allowed: names with '" + separator + "' as separator");
    if (separator == ',' && std::find(parts.begin(), parts.end(), part) != parts.end())
      throw InputError(option, std::string("duplicate '").append(part).append("' in '").append(text) + "'");
    parts.push_back(part);
  }
  if (parts.empty()) throw InputError(option, "found no name; allowed: names separated by commas");
  return parts;
}

Variant variant(const std::string& option, const std::string& label) {
  if (label.find('/') != std::string::npos)
    throw InputError(option, "found '" + label + "'; allowed: a scheme's name and settings without a slash");
  const Words parts = split(option, label, '+');
  std::string scheme = parts[0];
  Variant result{label, {}};
  const std::size_t dash = scheme.find('-');
  const auto* const sized = warp_formation::find_scheme(scheme.substr(0, dash));
  if (dash != std::string::npos && sized != nullptr && !sized->size_key.empty()) {
    result.overrides.push_back(std::string("warp_formation.")
                                   .append(sized->name)
                                   .append(".")
                                   .append(sized->size_key)
                                   .append("=")
                                   .append(scheme.substr(dash + 1)));
    scheme = sized->name;
  }
  if (warp_formation::find_scheme(scheme) == nullptr) {
    throw InputError(option, "unknown scheme '" + scheme + "'; known: " + warp_formation::known_schemes() +
                                 sized_names() +
                                 ", and NAME+PATH=VALUE with paths of warp_formation, or datapath.PATH");
  }
  result.overrides.push_back("warp_formation.scheme=" + scheme);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].find('=') == std::string::npos)
      throw InputError(option, "found '" + parts[i] + "' in '" + label + "'; allowed: PATH=VALUE");
    result.overrides.push_back(parts[i].rfind(kDatapath, 0) == 0 ? parts[i] : "warp_formation." + parts[i]);
  }
  return result;
}

}  // namespace weft::study
