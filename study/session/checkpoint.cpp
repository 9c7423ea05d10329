#include "study/session/checkpoint.h"

#include <cstdint>
#include <filesystem>
#include <utility>

#include "common/input_file.h"
#include "common/output_files.h"
#include "common/sha256.h"
#include "weft/common/archive.h"
#include "weft/common/error.h"

namespace weft::study {

using nlohmann::ordered_json;

namespace {

// The first line; after it the SHA-256 of the rest in hexadecimal digits, a line too, then the record and the
// state.
constexpr std::string_view kFormat = "weft checkpoint 1\n";
constexpr std::size_t kDigits = 64;

// What is there, for people: "size.n: 64 there, 128 now".
void differences(const std::string& name, const ordered_json& there, const ordered_json& now,
                 std::string& text) {
  if (there == now) return;
  if (there.is_object() && now.is_object()) {
    const auto below = [&](const std::string& key) { return name.empty() ? key : name + "." + key; };
    for (const auto& [key, value] : now.items())
      differences(below(key), there.contains(key) ? there[key] : ordered_json(), value, text);
    for (const auto& [key, value] : there.items()) {
      if (!now.contains(key)) differences(below(key), value, ordered_json(), text);
    }
    return;
  }
  text += (text.empty() ? "" : "; ") + name + ": " + there.dump() + " there, " + now.dump() + " now";
}

}  // namespace

CheckpointFile::CheckpointFile(const std::string& folder, ordered_json record)
    : path_(folder + "/checkpoint"), record_(std::move(record)) {}

void CheckpointFile::write(const std::string& state) const {
  if (is_something_else()) throw InputError(path_, "cannot be written: it is not a regular file");
  Archive archive;
  std::string record = record_.dump(), copy = state;
  archive(record, copy);
  std::string text(kFormat);
  text += sha256(archive.bytes());
  text += "\n";
  text += archive.bytes();
  replace_file(path_, text);
}

std::optional<std::string> CheckpointFile::read() const {
  const auto refuse = [this](const std::string& why) {
    throw InputError(path_, why + "; without --resume the run starts from its beginning");
  };
  if (is_something_else()) refuse("is not a regular file");
  if (!exists()) return {};
  const std::string text = read_regular_file(path_, SIZE_MAX);
  const std::size_t begin = kFormat.size() + kDigits + 1;
  if (text.compare(0, kFormat.size(), kFormat) != 0 || text.size() < begin)
    refuse("is not a checkpoint of this version of Weft");
  std::string content = text.substr(begin);
  if (text.compare(kFormat.size(), kDigits, sha256(content)) != 0)
    refuse("is damaged: the checksum of its content is wrong");
  std::string record, state;
  try {
    Archive archive(std::move(content));
    archive(record, state);
    archive.end();
  } catch (const BadArchive& bad) {
    refuse(std::string("is damaged: it ") + bad.what());
  }
  std::string different;
  differences("", ordered_json::parse(record, nullptr, false), record_, different);
  if (!different.empty()) refuse("belongs to another run: " + different);
  return state;
}

bool CheckpointFile::is_something_else() const {
  std::error_code error;
  return std::filesystem::exists(path_, error) && !exists();
}

bool CheckpointFile::exists() const {
  std::error_code error;
  return std::filesystem::is_regular_file(path_, error);
}

void CheckpointFile::remove() const {
  std::error_code error;
  if (exists()) std::filesystem::remove(path_, error);
}

}  // namespace weft::study
