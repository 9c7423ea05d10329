// The checkpoint of a run: a file in its folder, from which `weft run --resume` goes on.
//
//   CheckpointFile file("results", record);          // record: what the run is made of (run_record.h)
//   file.write(state);                               // whole or not at all; the one before stays until then
//   if (auto state = file.read()) device.resume(*state);
#ifndef WEFT_STUDY_SESSION_CHECKPOINT_H
#define WEFT_STUDY_SESSION_CHECKPOINT_H

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace weft::study {

class CheckpointFile {
 public:
  // `record`: two runs with the same record are the same run.
  CheckpointFile(const std::string& folder, nlohmann::ordered_json record);

  const std::string& path() const { return path_; }
  // Throws InputError if it cannot be written, or if something of its name is no regular file: a pipe would
  // be waited for.
  void write(const std::string& state) const;
  // None: there is no such file. Throws InputError if it is no regular file, not whole, or of another run
  // (and says what differs).
  std::optional<std::string> read() const;
  bool exists() const;
  void remove() const;

 private:
  // Something of its name that is no regular file.
  bool is_something_else() const;

  const std::string path_;
  const nlohmann::ordered_json record_;
};

}  // namespace weft::study

#endif
