#include "runtime/cuda/core/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

namespace weft::cuda {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGXCPU};
// After which the thread does not go on.
constexpr std::array kLastSignals{SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};
constexpr int kLastMilliseconds = 5000;
constexpr std::size_t kStackBytes = 128 * 1024;  // of the handlers
constexpr unsigned char kExit = 0;               // in the pipe, in place of a signal

// What the handler may use.
std::atomic<bool> asked{false}, by_signal{false};
int asking[2] = {-1, -1}, answering[2] = {-1, -1};  // pipes
pid_t watched = 0;

bool is_last(int signal) {
  for (const int last : kLastSignals) {
    if (signal == last) return true;
  }
  return false;
}

// Only calls that are safe in a handler (POSIX.1-2017, 2.4.3).
void ask(unsigned char what, bool waits) {
  asked = true;
  const bool told = ::write(asking[1], &what, 1) == 1;
  if (!told || !waits) return;
  pollfd answer{answering[0], POLLIN, 0};
  while (poll(&answer, 1, kLastMilliseconds) < 0 && errno == EINTR) {
  }
}

// The signal's default action is back already (SA_RESETHAND).
extern "C" void weft_cuda_signal(int signal) {
  const int error = errno;
  const bool own = getpid() == watched;
  if (own) {
    by_signal = true;
    ask(static_cast<unsigned char>(signal), is_last(signal));
  }
  // When the handler returns; a signal that another process sent would be over. abort() raises its own again.
  if (!own || (is_last(signal) && signal != SIGABRT)) raise(signal);
  errno = error;
}

void watch_for(int signal) {
  struct sigaction now{};
  sigaction(signal, nullptr, &now);
  const bool is_default = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
  if (!is_default) return;
  struct sigaction ours{};
  ours.sa_handler = weft_cuda_signal;
  ours.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND | SA_ONSTACK);
  sigaction(signal, &ours, nullptr);
}

// The calling thread's stack may be what is broken.
void provide_stack() {
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  stack_t ours{};
  static auto* const stack = new std::vector<unsigned char>(kStackBytes);  // for good
  ours.ss_size = stack->size();
  ours.ss_sp = stack->data();
  sigaltstack(&ours, nullptr);
}

}  // namespace

SignalWatch::SignalWatch(std::function<void(End)> write) : write_(std::move(write)) {
  if (pipe2(asking, O_CLOEXEC) != 0 || pipe2(answering, O_CLOEXEC) != 0) return;
  watched = getpid();
  // The thread takes no signals: they are the program's.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([this] { watch(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  provide_stack();
  for (const int signal : kSignals) watch_for(signal);
  for (const int signal : kLastSignals) watch_for(signal);
}

bool SignalWatch::interrupted() const {
  return asked;
}

bool SignalWatch::signalled() const {
  return by_signal;
}

void SignalWatch::exiting() const {
  if (getpid() == watched) ask(kExit, true);
}

void SignalWatch::watch() {
  unsigned char signal = 0;
  while (::read(asking[0], &signal, 1) != 1) {
    if (errno != EINTR) return;
  }
  const bool last = signal == kExit || is_last(signal);
  write_(last ? End::kNow : End::kSoon);
  if (last) {
    const bool told = ::write(answering[1], &signal, 1) == 1;
    if (told) return;
  }
  kill(watched, signal);
}

}  // namespace weft::cuda
