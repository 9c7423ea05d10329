#include "runtime/cuda/core/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

namespace weft::cuda {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGABRT};
constexpr int kAbortMilliseconds = 5000;

// What the handler may use.
std::atomic<bool> asked{false};
int asking[2] = {-1, -1}, answering[2] = {-1, -1};  // pipes
pid_t watched = 0;

// Only calls that are safe in a handler (POSIX.1-2017, 2.4.3). The signal's default action is back already
// (SA_RESETHAND).
extern "C" void weft_cuda_signal(int signal) {
  const int error = errno;
  if (getpid() != watched) {
    raise(signal);  // when the handler returns
  } else {
    asked = true;
    const auto number = static_cast<unsigned char>(signal);
    const bool told = ::write(asking[1], &number, 1) == 1;
    if (told && signal == SIGABRT) {
      pollfd answer{answering[0], POLLIN, 0};
      poll(&answer, 1, kAbortMilliseconds);
    }
  }
  errno = error;
}

}  // namespace

SignalWatch::SignalWatch(std::function<void()> write) : write_(std::move(write)) {
  if (pipe2(asking, O_CLOEXEC) != 0 || pipe2(answering, O_CLOEXEC) != 0) return;
  watched = getpid();
  // The thread takes no signals: they are the program's.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([this] { watch(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (const int signal : kSignals) {
    struct sigaction now{};
    sigaction(signal, nullptr, &now);
    const bool is_default = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
    if (!is_default) continue;
    struct sigaction ours{};
    ours.sa_handler = weft_cuda_signal;
    ours.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    sigaction(signal, &ours, nullptr);
  }
}

bool SignalWatch::interrupted() const {
  return asked;
}

void SignalWatch::watch() {
  unsigned char signal = 0;
  while (read(asking[0], &signal, 1) != 1) {
    if (errno != EINTR) return;
  }
  write_();
  if (signal == SIGABRT) {
    const bool told = ::write(answering[1], &signal, 1) == 1;
    if (told) return;
  }
  kill(watched, signal);
}

}  // namespace weft::cuda
