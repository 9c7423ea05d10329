#include "study/run/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include "study/session/interrupt.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

// SIGCHLD and the interrupts wait while it lives, but for next(): so none comes between a look at what has
// happened and the wait for more.
class Signals {
 public:
  Signals() {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigaction(SIGCHLD, &action, &child_before_);
    sigset_t held = interrupt_signals();
    sigaddset(&held, SIGCHLD);
    sigprocmask(SIG_BLOCK, &held, &mask_before_);
  }
  ~Signals() {
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    sigaction(SIGCHLD, &child_before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Until a signal comes, or for a tenth of a second.
  void next(bool briefly) const {
    const timespec tenth{0, 100'000'000};
    ppoll(nullptr, 0, briefly ? &tenth : nullptr, &mask_before_);
  }
  // As it was, and is for others.
  const sigset_t& mask_before() const { return mask_before_; }

 private:
  struct sigaction child_before_ = {};
  sigset_t mask_before_ = {};
};

constexpr double kShortSeconds = 0.1;
constexpr const char* kParent = "WEFT_PARENT";

// What a child is started with. It has a process group of its own, so that an interrupt from the terminal
// comes to its parent only.
class Start {
 public:
  explicit Start(const sigset_t& mask) : parent_(std::string(kParent) + "=" + std::to_string(getpid())) {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setsigmask(&attributes_, &mask);
    for (char** variable = environ; *variable != nullptr; ++variable) environment_.push_back(*variable);
    environment_.push_back(parent_.data());
    environment_.push_back(nullptr);
  }
  ~Start() { posix_spawnattr_destroy(&attributes_); }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;

  // A file that cannot be made (a full disk) need not cost the results: what it would take goes nowhere,
  // then.
  pid_t operator()(const Job& job) {
    pid_t child = 0;
    const char* const output = job.output.empty() ? kNowhere : job.output.c_str();
    if (spawn(job, job.messages.c_str(), output, child) == 0) return child;
    const int problem = spawn(job, kNowhere, kNowhere, child);
    if (problem != 0) throw InputError("", std::string("cannot start a process: ") + std::strerror(problem));
    return child;
  }

 private:
  static constexpr const char* kNowhere = "/dev/null";

  int spawn(const Job& job, const char* messages, const char* output, pid_t& child) {
    Words words{"weft"};
    words.insert(words.end(), job.arguments.begin(), job.arguments.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, kNowhere, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, messages, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int problem =
        posix_spawn(&child, "/proc/self/exe", &files, &attributes_, arguments.data(), environment_.data());
    posix_spawn_file_actions_destroy(&files);
    return problem;
  }

  std::string parent_;
  std::vector<char*> environment_;
  posix_spawnattr_t attributes_ = {};
};

int code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// 0: the process has gone.
std::uint64_t resident_bytes(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/statm");
  std::uint64_t pages = 0, resident = 0;
  in >> pages >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

class Running {
 public:
  Running(const Job& job, std::size_t number) : job_(job), number_(number), began_(Clock::now()) {}

  std::size_t number() const { return number_; }
  bool limited() const { return job_.most_seconds > 0 || job_.most_bytes > 0; }
  // Kills it if it takes more than it may.
  void check(pid_t process) {
    if (end_.stopped != JobEnd::Stopped::kNot) return;
    if (job_.most_seconds > 0 && seconds() > job_.most_seconds) end_.stopped = JobEnd::Stopped::kTime;
    if (job_.most_bytes > 0 && resident_bytes(process) > job_.most_bytes)
      end_.stopped = JobEnd::Stopped::kMemory;
    if (end_.stopped != JobEnd::Stopped::kNot) kill(process, SIGKILL);
  }
  JobEnd ended(int status, const rusage& used) {
    end_.code = code_of(status);
    end_.wall_seconds = seconds();
    end_.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    end_.peak_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
    // It was done before the signal came.
    if (end_.code != 128 + SIGKILL) end_.stopped = JobEnd::Stopped::kNot;
    return end_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  const Job& job_;
  const std::size_t number_;
  const Clock::time_point began_;
  JobEnd end_;
};

}  // namespace

std::string first_message(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  if (line.compare(0, 6, "weft: ") == 0) line.erase(0, 6);
  return line.empty() ? kNoMessage : line;
}

Parallel parallel_of(std::uint64_t jobs) {
  if (jobs != 0) return {static_cast<unsigned>(jobs), false};
  return {std::max(1u, std::thread::hardware_concurrency()), true};
}

void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(static_cast<int>(ExitCode::kFault));
}

void die_with_parent() {
  const char* const text = std::getenv(kParent);
  if (text == nullptr) return;
  pid_t parent = 0;
  std::from_chars(text, text + std::strlen(text), parent);
  unsetenv(kParent);  // not for what this process starts
  die_with(parent);
}

void run_apart(const std::vector<Job>& jobs, Parallel parallel,
               const std::function<void(std::size_t)>& starts,
               const std::function<void(std::size_t, const JobEnd&)>& ended) {
  const Signals signals;
  Start start(signals.mask_before());
  std::map<pid_t, Running> running;
  std::size_t next = 0;
  bool killed = false;
  std::optional<double> recent_seconds;  // that a job took, the last ones counting most
  const auto most = [&] {
    const bool spare = parallel.spare && recent_seconds.has_value() && *recent_seconds < kShortSeconds;
    return parallel.most + (spare ? 1u : 0u);
  };
  const auto fill = [&] {
    while (!interrupted() && next < jobs.size() && running.size() < most()) {
      starts(next);
      running.try_emplace(start(jobs[next]), jobs[next], next);
      ++next;
    }
  };
  for (;;) {
    fill();
    if (running.empty()) return;
    if (interrupted() && !killed) {
      for (const auto& [pid, job] : running) kill(pid, SIGKILL);
      killed = true;
    }
    int status = 0;
    rusage used = {};
    const pid_t child = wait4(-1, &status, WNOHANG, &used);
    if (child < 0) throw InputError("", std::string("cannot wait for a process: ") + std::strerror(errno));
    if (child == 0) {
      bool limited = false;
      for (auto& [pid, job] : running) {
        job.check(pid);
        limited = limited || job.limited();
      }
      signals.next(limited);
      continue;
    }
    const auto found = running.find(child);
    if (found == running.end()) continue;
    const JobEnd end = found->second.ended(status, used);
    const std::size_t job = found->second.number();
    running.erase(found);
    recent_seconds = recent_seconds.value_or(end.wall_seconds) * 0.9 + end.wall_seconds * 0.1;
    fill();  // no core waits for what ended() does
    ended(job, end);
  }
}

}  // namespace weft::study
