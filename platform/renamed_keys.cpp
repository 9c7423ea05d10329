#include "platform/renamed_keys.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "weft/common/error.h"

namespace weft {
namespace {

// Groups at the top of a configuration. Results and data of any version keep being read
// (study/run/renames.h); these names are refused from the named version on.
struct RenamedKey {
  const char *from, *to, *refused_by;
};
constexpr RenamedKey kRenamedKeys[] = {{"gddr5", "dram", "0.3"}};

// Once per place, because a command may load the same configuration many times.
void warn(const RenamedKey& key, const std::string& where) {
  static std::set<std::string> warned;
  if (!warned.insert(where).second) return;
  std::fprintf(stderr, "weft: %s: \"%s\" is called \"%s\" now; Weft %s will refuse the old name\n",
               where.c_str(), key.from, key.to, key.refused_by);
}

}  // namespace

void rename_old_keys(nlohmann::json& document, const std::string& where) {
  if (!document.is_object()) return;
  for (const RenamedKey& key : kRenamedKeys) {
    const auto old = document.find(key.from);
    if (old == document.end()) continue;
    if (document.contains(key.to)) {
      throw InputError(where + ": /" + key.from, std::string("this is the old name of \"") + key.to +
                                                     "\", which is there, too; allowed: one of the two");
    }
    warn(key, where);
    nlohmann::json value = std::move(*old);
    document.erase(key.from);
    document[key.to] = std::move(value);
  }
}

std::string with_new_key(const std::string& setting, const std::string& option) {
  for (const RenamedKey& key : kRenamedKeys) {
    const std::string from = key.from;
    if (setting.compare(0, from.size(), from) != 0 || setting.size() == from.size()) continue;
    if (setting[from.size()] != '.' && setting[from.size()] != '=') continue;
    warn(key, option + " " + setting);
    return key.to + setting.substr(from.size());
  }
  return setting;
}

}  // namespace weft
