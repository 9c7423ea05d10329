#include "study/terminal/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "study/terminal/table.h"

namespace weft::study {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Of the terminal; one place is left free, for the cursor.
std::size_t line_width() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1U : kPageWidth;
}

}  // namespace

bool has_progress_line() {
  const char* const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

void show_progress_line(const std::string& text) {
  if (!has_progress_line()) return;
  std::fputs(fmt::format("\r\x1b[K{}", clipped(text, line_width())).c_str(), stderr);
  std::fflush(stderr);
}

void end_progress_line() {
  if (has_progress_line()) std::fputs("\r\x1b[K", stderr);
}

std::string rounded_time(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 100) return fmt::format("{} s", whole);
  const std::uint64_t minutes = (whole + 30) / 60;
  return minutes < 60 ? fmt::format("{} min", minutes)
                      : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string share_and_time_left(double done, double all, double seconds) {
  if (done <= 0 || all <= 0) return "";
  const auto percent = static_cast<unsigned>(100 * done / all);  // 100 is all of it
  if (done >= all) return fmt::format("{} %", percent);
  return fmt::format("{} %, about {} left", percent, rounded_time(seconds * (all - done) / done));
}

std::function<void(const Progress&)> progress_of_run(bool one_launch) {
  if (!has_progress_line()) return {};
  const auto began = Clock::now();
  return [last = Progress{}, when = began, began, one_launch](const Progress& now) mutable {
    const double seconds = seconds_since(when);
    const double rate =
        seconds > 0 ? static_cast<double>(now.thread_instructions - last.thread_instructions) / seconds : 0;
    const std::string left =
        one_launch ? share_and_time_left(static_cast<double>(now.blocks_done),
                                         static_cast<double>(now.blocks_total), seconds_since(began))
                   : "";
    show_progress_line(fmt::format("{}/{} blocks{}{}, {} cycles, {:.1f} M thread instructions/s",
                                   now.blocks_done, now.blocks_total, left.empty() ? "" : ", ", left,
                                   now.cycles, rate / 1e6));
    last = now;
    when = Clock::now();
  };
}

}  // namespace weft::study
