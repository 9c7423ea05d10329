#include "study/session/interrupt.h"

#include <array>
#include <ctime>

namespace weft::study {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

// A signal handler can reach nothing but static storage.
volatile std::sig_atomic_t caught = 0, pressed = 0;
timespec first_press = {};

// Two SIGINTs within that time are one: nobody presses Ctrl-C twice so fast, but `timeout -s INT` sends it
// twice.
constexpr double kOneInterruptSeconds = 0.2;

extern "C" void on_interrupt(int signal) {
  caught = 1;
  if (signal != SIGINT) return;
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (pressed == 0) {
    pressed = 1;
    first_press = now;
    return;
  }
  const double seconds = static_cast<double>(now.tv_sec - first_press.tv_sec) +
                         static_cast<double>(now.tv_nsec - first_press.tv_nsec) * 1e-9;
  if (seconds < kOneInterruptSeconds) return;
  std::signal(SIGINT, SIG_DFL);
  raise(SIGINT);  // when the handler returns
}

}  // namespace

void catch_interrupts() {
  for (const int signal : kSignals) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (signal == SIGHUP && action.sa_handler == SIG_IGN) continue;  // nohup
    action = {};
    action.sa_handler = on_interrupt;
    action.sa_mask = interrupt_signals();
    sigaction(signal, &action, nullptr);
  }
}

bool interrupted() {
  return caught != 0;
}

sigset_t interrupt_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kSignals) sigaddset(&set, signal);
  return set;
}

}  // namespace weft::study
