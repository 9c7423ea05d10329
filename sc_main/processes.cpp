#include "sc_main/processes.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <stdexcept>
#include <thread>

#include "sc_main/interrupt.h"

namespace weft::cli {
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

  void next() const { sigsuspend(&mask_before_); }
  const sigset_t& mask_before() const { return mask_before_; }

 private:
  struct sigaction child_before_ = {};
  sigset_t mask_before_ = {};
};

// The child has a process group of its own, so that an interrupt from the terminal comes to its parent only.
[[noreturn]] void become(const Job& job, pid_t parent, const sigset_t& mask) {
  die_with(parent);
  setpgid(0, 0);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  Words words{"weft"};
  words.insert(words.end(), job.arguments.begin(), job.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int nowhere = open("/dev/null", O_RDWR);
  int messages = open(job.messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (messages < 0) messages = nowhere;  // a full disk, which need not cost the results
  if (nowhere < 0) _exit(static_cast<int>(ExitCode::kBadInput));
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  execv("/proc/self/exe", arguments.data());
  _exit(static_cast<int>(ExitCode::kFault));
}

pid_t start(const Job& job, const sigset_t& mask) {
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) become(job, parent, mask);
  return child;
}

int code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

unsigned usable_cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(static_cast<int>(ExitCode::kFault));
}

void run_apart(const std::vector<Job>& jobs, unsigned parallel,
               const std::function<void(std::size_t)>& starts,
               const std::function<void(std::size_t, int)>& ended) {
  const Signals signals;
  std::map<pid_t, std::size_t> running;
  std::size_t next = 0;
  bool killed = false;
  for (;;) {
    while (!interrupted() && next < jobs.size() && running.size() < parallel) {
      starts(next);
      running.emplace(start(jobs[next], signals.mask_before()), next);
      ++next;
    }
    if (running.empty()) return;
    if (interrupted() && !killed) {
      for (const auto& [pid, job] : running) kill(pid, SIGKILL);
      killed = true;
    }
    int status = 0;
    const pid_t child = waitpid(-1, &status, WNOHANG);
    if (child < 0) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
    if (child == 0) {
      signals.next();
      continue;
    }
    const auto found = running.find(child);
    if (found == running.end()) continue;
    const std::size_t job = found->second;
    running.erase(found);
    ended(job, code_of(status));
  }
}

}  // namespace weft::cli
