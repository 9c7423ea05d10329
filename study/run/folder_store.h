// A store of runs as folders: FOLDER/PROGRAM/ID, or as the plan names them, each with the results of `weft
// run`. Results count if they are complete and their run.json is what the run's would be (run_record.h). Of
// programs of one's own they count if their verification.json (verification.h) is of the run.
#ifndef WEFT_STUDY_RUN_FOLDER_STORE_H
#define WEFT_STUDY_RUN_FOLDER_STORE_H

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "study/run/run_store.h"

namespace weft::study {

class FolderStore : public RunStore {
 public:
  enum class Builds : std::uint8_t {
    kThis,
    kAny,  // results of another build count, too, if its configuration lacks only keys that have their
           // defaults in this one
  };
  // Nobody else may use the folder meanwhile (results_folder.h).
  explicit FolderStore(std::string folder, Builds builds = Builds::kThis);

  std::optional<RunEnd> end_of(const Run& run) const override;
  std::optional<double> seconds_of(const Run& run) const override;
  std::string what_counts() const override;
  std::string folder() const override { return folder_; }
  std::string folder_of(const Run& run) const override;
  bool keeps_folders() const override { return true; }
  void begins(const Run& run) override;
  RunEnd take(const Run& run, const Job& job, const JobEnd& end) override;
  void abandon(const Run&) override {}

  // "0.1.0 3f2a...": the build that made the results of a run, which are there.
  std::string build_of(const Run& run) const;

 private:
  // How the run ended whose results lie in `folder`; nothing: none, or of another run.
  std::optional<RunEnd> end_in(const std::string& folder, const Run& run, Builds builds) const;
  std::optional<RunEnd> program_end_in(const std::string& folder, const Run& run, Builds builds) const;
  bool is_of_any_build(const std::string& folder, const Run& run) const;
  std::string own_folder(const Run& run) const;
  void remember(const Run& run, double seconds);

  const std::string folder_;
  const Builds builds_;
  // With Builds::kAny, as far as they have been asked for: the folder of a run, by its own one; and by
  // program, folders by their effective configuration.
  mutable std::map<std::string, std::string> found_;
  mutable std::map<std::string, std::multimap<std::string, std::string>> there_;
  std::map<std::string, struct stat> before_;  // stats.json when a run began, by its folder
  // seconds.json: CPU seconds of runs so far, by work and settings; also of other builds.
  std::map<std::string, double> seconds_;
  bool seconds_writable_ = true;
};

}  // namespace weft::study

#endif
