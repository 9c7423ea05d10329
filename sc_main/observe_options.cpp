#include "sc_main/observe_options.h"

#include <string>

namespace weft::cli {
namespace {

// --PREFIX-start, -stop, -first-launch and -last-launch; `what` is recorded, "the waveforms".
void add_window_options(Options& description, const std::string& prefix, const std::string& what,
                        TimeWindow& window) {
  const Bounds cycles{0, UINT64_MAX, 1, "core cycles"}, launches{0, UINT64_MAX, 1, "launches"};
  const auto add = [&](const char* suffix, std::uint64_t& target, const Bounds& bounds,
                       const std::string& meaning) {
    description.number((prefix + suffix).c_str(), target, bounds, meaning);
  };
  add("-start", window.first_cycle, cycles, "first core cycle of " + what);
  add("-stop", window.last_cycle, cycles, "last core cycle of " + what);
  add("-first-launch", window.first_launch, launches,
      "first launch of " + what + ", from 1; 0: also cycles before the first launch");
  add("-last-launch", window.last_launch, launches, "last launch of " + what);
}

}  // namespace

void add_trace_options(Options& description, TraceOptions& options) {
  SignalSelection& selection = options.selection;
  description
      .text("vcd", options.file, "FILE",
            "write waveforms to this file; a name ending in .fst gives FST, by GTKWave's vcd2fst")
      .text("vcd-signals", selection.signals, "PATH,...",
            "signals and scopes of the waveforms, separated by commas: sm0,l2_*,sm*.scheduler*.stall (all)");
  add_window_options(description, "vcd", "the waveforms", selection);
}

void add_timeline_options(Options& description, TimelineOptions& options) {
  constexpr std::uint64_t kAny = UINT64_MAX, kLeastBytes = 100'000, kMostInterval = 1'000'000'000;
  TimelineSelection& selection = options.selection;
  description.text("timeline", options.file, "FILE", "write a timeline to this file, for ui.perfetto.dev")
      .text("timeline-sms", options.sms, "N-M,...", "only these SMs in the timeline (all)");
  add_window_options(description, "timeline", "the timeline", selection);
  description
      .number("timeline-interval", selection.interval, {1, kMostInterval, 1, "core cycles"},
              "core cycles between two values of the timeline's counters (100)")
      .number("timeline-bytes", selection.most_bytes, {kLeastBytes, kAny, 1, "bytes"},
              "size at which the timeline ends (256000000)");
}

void add_transaction_options(Options& description, TransactionOptions& options) {
  description
      .text("transactions", options.file, "FILE",
            "write a table of the transactions on the hops, with the times of their phases")
      .text("transactions-hops", options.hops, "PATTERN",
            "only transactions on hops that match: hop_sm*, hop_l2_0 (all)")
      .text("transactions-sms", options.sms, "N-M,...",
            "only transactions of these SMs (all, and those of no SM)")
      .text(
          "transactions-bytes", options.addresses, "N-M,...",
          "only transactions that touch these bytes, by addresses of kernels: 0x100000000-0x1000000ff (all)")
      .text("transactions-kernel", options.kernel, "NAME",
            "only transactions of SMs that run this kernel (all)");
}

}  // namespace weft::cli
