// --timeline and what belongs to it.
#ifndef WEFT_SC_MAIN_TIMELINE_H
#define WEFT_SC_MAIN_TIMELINE_H

#include <string>

#include "weft/platform/gpu.h"
#include "weft/platform/timeline_selection.h"

namespace weft::cli {

class Options;

struct TimelineOptions {
  std::string file;  // empty: none
  std::string sms;   // as written on the command line
  TimelineSelection selection;
};

// --timeline, --timeline-sms, --timeline-start...
void add_timeline_options(Options& description, TimelineOptions& options);

// Called once, before the first launch. Throws InputError if an option has a value that it cannot have, or
// the file cannot be written.
void start_timeline(Gpu& gpu, const TimelineOptions& options);
// Called once, after the last launch; says it if the file has reached its size. Throws InputError if the file
// could not be written to the end.
void finish_timeline(Gpu& gpu);

}  // namespace weft::cli

#endif
