// Where the files lie that come with the program: configurations, experiments.
#ifndef WEFT_COMMON_SHARE_FOLDER_H
#define WEFT_COMMON_SHARE_FOLDER_H

#include <filesystem>
#include <string>

namespace weft {

// What the environment's `variable` names; else share/weft/`name` beside the program, if it is installed;
// else `source`, the folder in the source tree, if it is there; else `installed`, where the build was
// configured to install it.
std::filesystem::path share_folder(const char* variable, const std::string& name, const std::string& source,
                                   const std::string& installed);

}  // namespace weft

#endif
