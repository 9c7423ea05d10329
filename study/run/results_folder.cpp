#include "study/run/results_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "common/output_files.h"
#include "weft/common/error.h"

namespace weft::study {

ResultsFolder::ResultsFolder(const std::string& asked, std::string command, Lock lock)
    : path_(asked), command_(std::move(command)), temporary_(asked.empty()) {
  if (temporary_) {
    make_temporary();
  } else {
    make_folder(path_);
    this->lock(lock);
    remove_drafts(path_);
  }
}

ResultsFolder::~ResultsFolder() {
  std::error_code ignored;
  if (temporary_) std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

void ResultsFolder::make_temporary() {
  const char* variable = std::getenv("TMPDIR");
  const std::string parent = variable == nullptr || *variable == '\0' ? "/tmp" : variable;
  path_ = parent + "/weft-" + command_ + "-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) {
    throw InputError(parent, std::string("cannot create a folder in it: ") + std::strerror(errno) +
                                 "; give --out DIR, or another folder for temporary files in TMPDIR");
  }
}

// Two such commands would take each other's results away. The runs inherit the lock: it holds until the last
// of them has gone, even if this process is killed; therefore the wait.
void ResultsFolder::lock(Lock lock) {
  constexpr int kTries = 40, kMilliseconds = 50;
  lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | (lock == Lock::kAlone ? O_CLOEXEC : 0));
  for (int i = 0; lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;  // a file system without locks
    if (i == kTries) throw InputError(path_, "another weft " + command_ + " writes to this folder");
    std::this_thread::sleep_for(std::chrono::milliseconds(kMilliseconds));
  }
}

}  // namespace weft::study
