#include "sc_main/interrupt.h"

#include <csignal>

namespace weft::cli {
namespace {

// A signal handler can reach nothing but static storage.
volatile std::sig_atomic_t caught = 0;

extern "C" void on_interrupt(int) {
  caught = 1;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() {
  return caught != 0;
}

}  // namespace weft::cli
