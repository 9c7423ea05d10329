// --timeline and what belongs to it.
#ifndef WEFT_STUDY_SESSION_TIMELINE_H
#define WEFT_STUDY_SESSION_TIMELINE_H

#include <string>

#include "weft/platform/gpu.h"
#include "weft/platform/timeline_selection.h"

namespace weft::study {

struct TimelineOptions {
  std::string file;  // empty: none
  std::string sms;   // as written on the command line
  TimelineSelection selection;
};

// Called once, before the first launch. Throws InputError if an option has a value that it cannot have, or
// the file cannot be written.
void start_timeline(Gpu& gpu, const TimelineOptions& options);
// Called once, after the last launch; says it if the file has reached its size. Throws InputError if the file
// could not be written to the end.
void finish_timeline(Gpu& gpu);

}  // namespace weft::study

#endif
