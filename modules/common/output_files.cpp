#include "common/output_files.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <utility>

#include "common/open_file.h"
#include "weft/common/error.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDraftBegin = ".weft-", kDraftEnd = ".part";

// A file that cannot be written, and the system's reason.
struct Failure {
  std::string path;
  int reason = 0;
};

std::string text_of(const Failure& failure) {
  return failure.path + ": cannot be written: " + reason_of(failure.reason);
}

[[noreturn]] void refuse(const Failure& failure) {
  throw InputError("", text_of(failure) + "; results already there are kept");
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Where a name leads, behind symbolic links.
struct Place {
  std::string path;
  int descriptor = -1;     // of this process, which the name stands for
  bool there = false;      // something is
  bool in_place = false;   // and it is written through, not replaced
  bool has_names = false;  // it is a file with several names
  mode_t mode = 0;         // of what is there
};

// /dev/fd/1, /proc/self/fd/1: opening it anew would give a position of its own in the file, and what both
// write would lie over each other.
int own_descriptor(const std::string& path) {
  for (const std::string& folder : {std::string("/dev/fd/"), std::string("/proc/self/fd/"),
                                    "/proc/" + std::to_string(getpid()) + "/fd/"}) {
    if (path.compare(0, folder.size(), folder) != 0) continue;
    int number = -1;
    const char* last = path.data() + path.size();
    const auto [end, error] = std::from_chars(path.data() + folder.size(), last, number);
    if (error == std::errc() && end == last && number >= 0 && fcntl(number, F_GETFD) >= 0) return number;
  }
  return -1;
}

// Throws Failure.
Place place_of(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux
  Place place{path};
  for (int links = 0;; ++links) {
    place.descriptor = own_descriptor(place.path);
    if (place.descriptor >= 0) {
      place.there = place.in_place = true;
      return place;
    }
    // What /proc calls a link is none: its text is not a name.
    if (place.path.compare(0, 6, "/proc/") == 0) {
      place.there = place.in_place = true;
      return place;
    }
    std::error_code no_link;
    const fs::path to = fs::read_symlink(place.path, no_link);
    if (no_link) break;
    if (links == kMostLinks) throw Failure{path, ELOOP};
    place.path = to.is_absolute() ? to.string() : folder_of(place.path) + "/" + to.string();
  }
  struct stat status = {};
  if (stat(place.path.c_str(), &status) != 0) {
    if (errno != ENOENT) throw Failure{path, errno};
    return place;
  }
  if (S_ISDIR(status.st_mode)) throw Failure{path, EISDIR};
  if (access(place.path.c_str(), W_OK) != 0) throw Failure{path, errno};
  place.there = true;
  place.in_place = !S_ISREG(status.st_mode);
  place.has_names = status.st_nlink > 1;
  place.mode = status.st_mode & 07777;
  return place;
}

// Makes a file that was not there: the beginning of its name, something random, the end. Returns its
// descriptor, or -1 with errno.
int create_unique(const std::string& begin, std::string_view end, std::string& name) {
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    static constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char random[8] = {};
    if (getrandom(random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) return -1;
    name = begin;
    for (const unsigned char byte : random) name += kLetters[byte % 32];
    name += end;
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

int write_and_close(int file, std::string_view text, bool sync) {
  int reason = write_all(file, text);
  // Some file systems notice a full disk or a quota only here.
  if (reason == 0 && sync && fsync(file) != 0 && errno != EINVAL && errno != EROFS) reason = errno;
  if (close(file) != 0 && reason == 0) reason = errno;
  return reason;
}

// A text on its way to its place.
class Draft {
 public:
  // Writes it beside its place, unless that is written through. Throws Failure.
  Draft(const std::string& path, std::string_view text, bool of_set, bool synced)
      : path_(path), text_(text), place_(place_of(path)) {
    if (place_.has_names && !of_set) place_.in_place = true;
    if (place_.in_place) return;
    const int file =
        create_unique(folder_of(place_.path) + "/" + std::string(kDraftBegin), kDraftEnd, draft_);
    if (file < 0) throw Failure{path, errno};
    if (place_.there && fchmod(file, place_.mode) != 0) {
      // It keeps the mode of a new file.
    }
    const int reason = write_and_close(file, text, synced);
    if (reason == 0) return;
    unlink(draft_.c_str());
    throw Failure{path, reason};
  }
  ~Draft() {
    if (!draft_.empty()) unlink(draft_.c_str());
  }
  Draft(Draft&& other) noexcept
      : path_(other.path_),
        text_(other.text_),
        place_(other.place_),
        draft_(std::exchange(other.draft_, {})) {}
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  Draft& operator=(Draft&&) = delete;

  void write_through() const {
    if (!place_.in_place) return;
    std::cout.flush();  // what was said before stands before, if it goes to the same place
    const int file = place_.descriptor >= 0 ? fcntl(place_.descriptor, F_DUPFD_CLOEXEC, 0)
                                            : open_to_write(place_.path, O_TRUNC);
    if (file < 0) throw Failure{path_, errno};
    const int reason = write_and_close(file, text_, false);
    if (reason != 0) throw Failure{path_, reason};
  }
  void take_away_old() const {
    if (place_.in_place || !place_.there) return;
    if (unlink(place_.path.c_str()) != 0 && errno != ENOENT) throw Failure{path_, errno};
  }
  void put() {
    if (place_.in_place) return;
    if (rename(draft_.c_str(), place_.path.c_str()) != 0) throw Failure{path_, errno};
    draft_.clear();
  }

 private:
  const std::string& path_;
  const std::string_view text_;
  Place place_;
  std::string draft_;  // empty: none
};

// No signal ends the program between the first renaming and the last.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_ = {};
};

// Throws Failure.
void replace_all(const std::string& folder, const std::vector<TextFile>& files, bool synced) {
  std::vector<std::string> paths;
  paths.reserve(files.size());
  for (const TextFile& file : files) paths.push_back((fs::path(folder) / file.name).string());
  std::vector<Draft> drafts;
  drafts.reserve(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!files[i].absent) drafts.emplace_back(paths[i], files[i].text, true, synced);
  }
  for (const Draft& draft : drafts) draft.write_through();
  const WithoutSignals now;
  drafts.back().take_away_old();
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].absent) unlink(paths[i].c_str());  // it may well not be there
  }
  for (Draft& draft : drafts) draft.put();
}

// Throws Failure.
void replace(const std::string& path, std::string_view text) {
  Draft draft(path, text, false, false);
  draft.write_through();
  draft.put();
}

std::string temporary_folder() {
  std::error_code error;
  const fs::path path = fs::temp_directory_path(error);
  return error ? "/tmp" : path.string();
}

// "out/" -> "/home/me/out", so that letters can follow.
std::string plain(const std::string& folder) {
  std::error_code error;
  fs::path path = fs::absolute(folder, error).lexically_normal();
  if (error) return folder;
  if (!path.has_filename()) path = path.parent_path();
  return path.string();
}

}  // namespace

int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw InputError(path, "cannot be made: " + error.message());
}

void check_writable(const std::string& path) {
  try {
    const Place place = place_of(path);
    if (place.there) return;
    if (access(folder_of(place.path).c_str(), W_OK | X_OK) != 0) throw Failure{path, errno};
  } catch (const Failure& failure) {
    throw InputError("", text_of(failure));
  }
}

void replace_file(const std::string& path, std::string_view text) {
  try {
    replace(path, text);
  } catch (const Failure& failure) {
    refuse(failure);
  }
}

std::string save_file(const std::string& path, std::string_view text) {
  try {
    replace(path, text);
    return "";
  } catch (const Failure& failure) {
    // Not beside a device: its folder is not one for files.
    struct stat status = {};
    const bool beside =
        stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
    const auto slash = path.rfind('/');
    const std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    for (const std::string& begin :
         {beside ? path + "." : std::string(), temporary_folder() + "/weft-" + name + "."}) {
      if (begin.empty()) continue;
      std::string other;
      const int file = create_unique(begin, "", other);
      if (file < 0) continue;
      if (write_and_close(file, text, true) == 0)
        return text_of(failure) + "; it is in " + other + " instead";
      unlink(other.c_str());
    }
    refuse(failure);
  }
}

std::string save_files(const std::string& folder, const std::vector<TextFile>& files, bool synced) {
  try {
    std::error_code ignored;
    fs::create_directories(folder, ignored);  // if it has gone since the run began
    replace_all(folder, files, synced);
    return "";
  } catch (const Failure& failure) {
    for (std::string other : {plain(folder) + "-XXXXXX", temporary_folder() + "/weft-results-XXXXXX"}) {
      if (mkdtemp(other.data()) == nullptr) continue;
      try {
        replace_all(other, files, synced);
        return text_of(failure) + "; the results are in " + other + " instead";
      } catch (const Failure&) {
        rmdir(other.c_str());
      }
    }
    refuse(failure);
  }
}

void remove_drafts(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (name.size() > kDraftBegin.size() + kDraftEnd.size() &&
        name.compare(0, kDraftBegin.size(), kDraftBegin) == 0 &&
        name.compare(name.size() - kDraftEnd.size(), kDraftEnd.size(), kDraftEnd) == 0)
      fs::remove(entry.path(), ignored);
  }
}

int open_output(const std::string& path) {
  const int own = [&] {
    try {
      return place_of(path).descriptor;
    } catch (const Failure&) {
      return -1;  // open() says why
    }
  }();
  const int file = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 0) : open_to_write(path, O_CREAT | O_TRUNC, 0666);
  if (file < 0) throw InputError("", text_of({path, errno}));
  return file;
}

}  // namespace weft
