// Where named configurations lie.
#ifndef WEFT_PLATFORM_CONFIG_FILES_H
#define WEFT_PLATFORM_CONFIG_FILES_H

#include <string>
#include <vector>

namespace weft {

// The path of a configuration given by name ("gtx480") or by path (anything with a slash or ending in .json).
// Names are files of the folder of configurations, or of a folder in it. Throws InputError listing the known
// names; `where` is who asked.
std::string config_path(const std::string& name_or_path, const std::string& folder = "",
                        const std::string& where = "--config");
std::vector<std::string> config_names_in(const std::string& folder);

}  // namespace weft

#endif
