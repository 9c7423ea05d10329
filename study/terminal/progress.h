// What a long command says of its progress: on a terminal one line, rewritten in place, of standard error; to
// files and pipes nothing but what the command says itself.
//
//   show_progress_line("3 of 9 runs done, 33 %");
//   end_progress_line();
#ifndef WEFT_STUDY_TERMINAL_PROGRESS_H
#define WEFT_STUDY_TERMINAL_PROGRESS_H

#include <functional>
#include <string>

#include "weft/platform/gpu.h"

namespace weft::study {

// Whether standard error is a terminal on which a line can be rewritten.
bool has_progress_line();
// Clipped to the terminal's width. No effect if there is none.
void show_progress_line(const std::string& text);
// Clears the line, so that what follows starts on a fresh one. No effect if there is none.
void end_progress_line();

// "40 s", "5 min", "2 h 10 min".
std::string rounded_time(double seconds);
// "25 %, about 5 min left": of `done` of `all` after `seconds`, if the rest goes on like that. Empty of
// nothing.
std::string share_and_time_left(double done, double all, double seconds);

// For a run: blocks done, cycles, thread instructions per second. If all its work is one launch, also the
// percentage of its blocks and the time left. Empty function if there is no line.
std::function<void(const Progress&)> progress_of_run(bool one_launch);

}  // namespace weft::study

#endif
