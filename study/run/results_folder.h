// A folder for the results of many runs, locked while a command writes to it.
#ifndef WEFT_STUDY_RUN_RESULTS_FOLDER_H
#define WEFT_STUDY_RUN_RESULTS_FOLDER_H

#include <cstdint>
#include <string>

namespace weft::study {

// Removed with the object unless it was asked for.
class ResultsFolder {
 public:
  // Who keeps the folder locked if this process is killed: its runs, until the last one has gone, or nobody.
  // Runs of a cluster are other machines' processes, and what submits them must not keep the lock.
  enum class Lock : std::uint8_t { kWithRuns, kAlone };
  // `asked` is empty: a temporary one. `command` is for messages. Throws InputError.
  ResultsFolder(const std::string& asked, std::string command, Lock lock = Lock::kWithRuns);
  ~ResultsFolder();
  ResultsFolder(const ResultsFolder&) = delete;
  ResultsFolder& operator=(const ResultsFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  void make_temporary();
  void lock(Lock lock);

  std::string path_;
  const std::string command_;
  const bool temporary_;
  int lock_ = -1;
};

}  // namespace weft::study

#endif
