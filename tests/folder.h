// Files of a test. Tests run at the same time, each in a process of its own: a fixed name in the folder for
// temporary files would be shared by all of them.
#ifndef WEFT_TESTS_FOLDER_H
#define WEFT_TESTS_FOLDER_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weft::test {

// A folder that nobody else has; removed with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name = "") const;
  // Writes a file; returns its path.
  std::string write(const std::string& name, const std::string& text) const;
  bool has(const std::string& name) const;
  std::string text(const std::string& name) const;
  nlohmann::ordered_json json(const std::string& name) const;
  static std::vector<std::string> names_of(const std::string& path);

 private:
  std::string path_;
};

}  // namespace weft::test

#endif
