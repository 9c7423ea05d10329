#include "common/share_folder.h"

#include <cstdlib>

namespace weft {

std::filesystem::path share_folder(const char* variable, const std::string& name, const std::string& source,
                                   const std::string& installed) {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv(variable)) return given;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::path beside = program.parent_path().parent_path() / "share" / "weft" / name;
  if (!error && fs::is_directory(beside, error)) return beside;
  if (fs::is_directory(source, error)) return source;
  return installed;
}

}  // namespace weft
