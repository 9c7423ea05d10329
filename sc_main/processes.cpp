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

// The child has a process group of its own, so that an interrupt from the terminal comes to it by way of its
// parent only (two would end it without its results), and does not outlive its parent.
[[noreturn]] void become(const Job& job) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  Words words{"weft"};
  words.insert(words.end(), job.arguments.begin(), job.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int nowhere = open("/dev/null", O_RDWR);
  const int messages = open(job.messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (nowhere < 0 || messages < 0) _exit(static_cast<int>(ExitCode::kBadInput));
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  execv("/proc/self/exe", arguments.data());
  _exit(static_cast<int>(ExitCode::kFault));
}

pid_t start(const Job& job) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) become(job);
  return child;
}

int code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

unsigned usable_cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

std::vector<int> run_apart(const std::vector<Job>& jobs, unsigned parallel,
                           const std::function<void(std::size_t)>& ended) {
  std::vector<int> codes(jobs.size(), kNotStarted);
  std::map<pid_t, std::size_t> running;
  std::size_t next = 0, done = 0;
  bool passed_on = false;
  for (;;) {
    while (!interrupted() && next < jobs.size() && running.size() < parallel) {
      running.emplace(start(jobs[next]), next);
      ++next;
    }
    if (running.empty()) return codes;
    if (interrupted() && !passed_on) {
      for (const auto& [pid, job] : running) kill(pid, SIGINT);
      passed_on = true;
    }
    int status = 0;
    const pid_t child = waitpid(-1, &status, 0);
    if (child < 0) {
      if (errno == EINTR) continue;
      throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
    }
    const auto found = running.find(child);
    if (found == running.end()) continue;
    codes[found->second] = code_of(status);
    running.erase(found);
    ended(++done);
  }
}

}  // namespace weft::cli
