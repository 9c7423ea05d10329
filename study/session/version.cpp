#include "study/session/version.h"

#include <filesystem>
#include <fstream>

namespace weft::study {

std::string version() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return WEFT_VERSION;
  for (const fs::path& path : {folder.parent_path() / "share/weft/version", folder / "version"}) {
    std::ifstream file(path);
    std::string text;
    if (std::getline(file, text) && !text.empty()) return text;
  }
  return WEFT_VERSION;
}

}  // namespace weft::study
