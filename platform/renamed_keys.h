// Keys of configurations under their names of the version before: accepted for one version, with a warning.
#ifndef WEFT_PLATFORM_RENAMED_KEYS_H
#define WEFT_PLATFORM_RENAMED_KEYS_H

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace weft {

// The document with today's names. `where` is the file or whatever else it is from, for messages. Throws
// InputError if a key is there under both names.
void rename_old_keys(nlohmann::json& document, const std::string& where);

// The same of a setting, "path=value". `option` is who gave it, for messages.
std::string with_new_key(const std::string& setting, const std::string& option);

}  // namespace weft

#endif
