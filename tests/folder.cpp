#include "folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace weft::test {

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "weft_test_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::path(const std::string& name) const {
  return name.empty() ? path_ : path_ + "/" + name;
}

std::string Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

bool Folder::has(const std::string& name) const {
  return std::filesystem::exists(path(name));
}

std::string Folder::text(const std::string& name) const {
  std::ifstream file(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

nlohmann::ordered_json Folder::json(const std::string& name) const {
  return nlohmann::ordered_json::parse(text(name));
}

std::vector<std::string> Folder::names_of(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace weft::test
