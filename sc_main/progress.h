// The progress line of a long run, on a terminal only.
#ifndef WEFT_SC_MAIN_PROGRESS_H
#define WEFT_SC_MAIN_PROGRESS_H

#include <chrono>
#include <functional>

#include "weft/platform/gpu.h"

namespace weft::cli {

// Blocks done, cycles, thread instructions per second, rewritten in place on standard error. Empty function
// if standard error is not a terminal.
std::function<void(const Progress&)> progress_line();
// Ends the line, so that what follows starts on a fresh one. No effect if there is none.
void end_progress_line();

}  // namespace weft::cli

#endif
