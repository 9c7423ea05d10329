#include "end_to_end/process.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace weft::end_to_end {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void become(const std::string& program, std::vector<std::string> arguments, const Start& start,
                         int out, int err) {
  if (start.file_size_limit != 0) {
    const rlimit limit{start.file_size_limit, start.file_size_limit};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  const int nothing = open("/dev/null", O_RDONLY);
  const int to = start.output.empty() ? out : open(start.output.c_str(), O_WRONLY);
  if (nothing < 0 || to < 0) _exit(127);
  dup2(nothing, STDIN_FILENO);
  dup2(to, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  if (start.without_output) close(STDOUT_FILENO);
  std::string name = std::filesystem::path(program).filename();
  std::vector<char*> words{name.data()};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  _exit(127);
}

// A pseudo-terminal that changes nothing of what is written.
void open_terminal(unsigned short columns, int ends[2]) {
  winsize size{};
  size.ws_row = 50;
  size.ws_col = columns;
  termios raw{};
  cfmakeraw(&raw);
  if (openpty(&ends[0], &ends[1], nullptr, &raw, &size) != 0) throw std::runtime_error("openpty");
  for (int i = 0; i < 2; ++i) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
}

struct Pipe {
  int read_end = -1, write_end = -1;
  explicit Pipe(unsigned short terminal_columns = 0) {
    int ends[2];
    if (terminal_columns != 0) {
      open_terminal(terminal_columns, ends);
      read_end = ends[0];
      write_end = ends[1];
      return;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    read_end = ends[0];
    write_end = ends[1];
  }
};

}  // namespace

Exit weft(const std::vector<std::string>& arguments, const Start& start) {
  return run(WEFT_PROGRAM, arguments, start);
}

Exit run(const std::string& program, const std::vector<std::string>& arguments, const Start& start) {
  const Pipe out(start.terminal_columns), err;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0)
    become(program, arguments, start, out.write_end,
           start.terminal_columns != 0 ? out.write_end : err.write_end);
  close(out.write_end);
  close(err.write_end);

  Exit result;
  std::array<pollfd, 2> pipes{pollfd{out.read_end, POLLIN, 0}, pollfd{err.read_end, POLLIN, 0}};
  const std::array<std::string*, 2> texts{&result.out, &result.err};
  const auto begin = Clock::now();
  bool interrupt = start.interrupt_after_ms > 0;
  unsigned open_pipes = 2;
  while (open_pipes > 0) {
    poll(pipes.data(), pipes.size(), interrupt ? 1 : 10);
    const auto elapsed = Clock::now() - begin;
    if (interrupt && elapsed > std::chrono::milliseconds(start.interrupt_after_ms)) {
      for (int i = 0; i < start.signals; ++i) kill(child, start.signal);
      interrupt = false;
    }
    if (elapsed > std::chrono::seconds(start.timeout_s)) kill(child, SIGKILL);
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      if (pipes[i].fd < 0 || (pipes[i].revents & (POLLIN | POLLHUP)) == 0) continue;
      std::array<char, 65536> buffer{};
      const ssize_t got = read(pipes[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      } else {
        close(pipes[i].fd);
        pipes[i].fd = -1;
        --open_pipes;
      }
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string command_line(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/cmdline", std::ios::binary);
  // Not by an iterator of the buffer: that throws if the process ends after the file was opened.
  std::ostringstream words;
  words << in.rdbuf();
  return words.str();
}

std::vector<pid_t> processes_with(const std::string& word) {
  std::vector<pid_t> list;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const pid_t process = std::stoi(name);
    if (command_line(process).find(word) != std::string::npos) list.push_back(process);
  }
  return list;
}

bool end_soon(const std::string& word) {
  int quiet = 0;
  for (int i = 0; i < 500 && quiet < 10; ++i) {
    quiet = processes_with(word).empty() ? quiet + 1 : 0;
    usleep(10'000);
  }
  return quiet == 10;
}

}  // namespace weft::end_to_end
