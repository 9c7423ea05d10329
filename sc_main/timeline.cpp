#include "sc_main/timeline.h"

#include <iostream>

#include "sc_main/options.h"
#include "sc_main/ranges.h"
#include "sc_main/time_window.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

bool has_defaults(const TimelineOptions& options) {
  const TimelineSelection none, &given = options.selection;
  return options.sms.empty() && given.is_everything() && given.interval == none.interval &&
         given.most_bytes == none.most_bytes;
}

}  // namespace

void add_timeline_options(Options& description, TimelineOptions& options) {
  constexpr std::uint64_t kAny = UINT64_MAX, kLeastBytes = 100'000, kMostInterval = 1'000'000'000;
  TimelineSelection& selection = options.selection;
  description.text("timeline", options.file, "FILE", "write a timeline to this file, for ui.perfetto.dev")
      .text("timeline-sms", options.sms, "N-M,...", "only these SMs in the timeline (all)");
  add_window_options(description, "timeline", "the timeline", selection);
  description
      .number("timeline-interval", selection.interval, {1, kMostInterval, 1, "core cycles"},
              "core cycles between two values of its counters (100)")
      .number("timeline-bytes", selection.most_bytes, {kLeastBytes, kAny, 1, "bytes"},
              "size at which the timeline ends (256000000)");
}

void start_timeline(Gpu& gpu, const TimelineOptions& options) {
  if (options.file.empty()) {
    if (has_defaults(options)) return;
    throw InputError("--timeline-...", "says what a timeline has; give the file, too: --timeline FILE");
  }
  TimelineSelection selection = options.selection;
  check_window_options("timeline", selection);
  selection.sms = read_ranges("--timeline-sms", options.sms, 65534);
  gpu.write_timeline(options.file, selection);
}

void finish_timeline(Gpu& gpu) {
  const std::string early = gpu.close_timeline();
  if (early.empty()) return;
  std::cerr << "weft: " << early
            << "; --timeline-bytes allows more, --timeline-sms, -start and -first-launch choose\n";
}

}  // namespace weft::cli
