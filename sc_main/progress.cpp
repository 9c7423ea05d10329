#include "sc_main/progress.h"

#include <unistd.h>

#include <cstdio>

namespace weft::cli {

std::function<void(const Progress&)> progress_line() {
  if (isatty(STDERR_FILENO) == 0) return {};
  using Clock = std::chrono::steady_clock;
  return [last = Progress{}, when = Clock::now()](const Progress& now) mutable {
    const double seconds = std::chrono::duration<double>(Clock::now() - when).count();
    const double rate =
        seconds > 0 ? static_cast<double>(now.thread_instructions - last.thread_instructions) / seconds : 0;
    std::fprintf(stderr, "\r\x1b[K%llu/%llu blocks, %llu cycles, %.1f M thread instructions/s",
                 static_cast<unsigned long long>(now.blocks_done),
                 static_cast<unsigned long long>(now.blocks_total),
                 static_cast<unsigned long long>(now.cycles), rate / 1e6);
    std::fflush(stderr);
    last = now;
    when = Clock::now();
  };
}

void end_progress_line() {
  if (isatty(STDERR_FILENO) != 0) std::fputs("\r\x1b[K", stderr);
}

}  // namespace weft::cli
