#include "sc_main/trace.h"

#include <utility>

#include "sc_main/options.h"
#include "sc_main/ranges.h"
#include "weft/common/error.h"

namespace weft::cli {
void add_trace_options(Options& description, TraceOptions& options) {
  constexpr std::uint64_t kAny = UINT64_MAX;
  SignalSelection& selection = options.selection;
  description.text("vcd", options.file, "FILE", "write waveforms to this file")
      .text("vcd-signals", selection.signals, "PATH,...",
            "signals and scopes of the waveforms, with commas between: sm0,l2_*,sm*.scheduler*.stall (all)")
      .number("vcd-start", selection.first_cycle, {0, kAny, 1, "core cycles"},
              "first core cycle of the waveforms")
      .number("vcd-stop", selection.last_cycle, {0, kAny, 1, "core cycles"},
              "last core cycle of the waveforms")
      .number("vcd-first-launch", selection.first_launch, {0, kAny, 1, "launches"},
              "first launch of the waveforms, from 1; 0: what is before it, too")
      .number("vcd-last-launch", selection.last_launch, {0, kAny, 1, "launches"},
              "last launch of the waveforms");
}

void start_trace(Gpu& gpu, const TraceOptions& options) {
  const SignalSelection& selection = options.selection;
  if (options.file.empty()) {
    const SignalSelection none;
    if (selection.signals != none.signals || selection.first_cycle != none.first_cycle ||
        selection.last_cycle != none.last_cycle || selection.first_launch != none.first_launch ||
        selection.last_launch != none.last_launch)
      throw InputError("--vcd-...", "says what waveforms have; give the file, too: --vcd FILE");
    return;
  }
  check_order("vcd-stop", selection.last_cycle, "vcd-start", selection.first_cycle);
  check_order("vcd-last-launch", selection.last_launch, "vcd-first-launch", selection.first_launch);
  gpu.write_waveform(options.file, selection);
}

void finish_trace(Gpu& gpu) {
  gpu.close_waveforms();
}

void start_tables(Gpu& gpu, std::uint64_t interval, const std::string& folder, bool functional) {
  if (interval != 0 && folder.empty())
    throw InputError("--sample", "needs a folder for samples.csv; give --out DIR");
  if (folder.empty() || functional) return;
  if (interval != 0) gpu.sample(interval);
  gpu.write_down_launches();
}

void add_tables(Gpu& gpu, std::vector<TextFile>& files) {
  std::string samples = gpu.samples(), power = gpu.power(), launches = gpu.launches();
  const bool no_samples = samples.empty(), no_power = power.empty(), no_launches = launches.empty();
  files.push_back({"samples.csv", std::move(samples), no_samples});
  files.push_back({"power.csv", std::move(power), no_power});
  files.push_back({"launches.csv", std::move(launches), no_launches});
  std::string instructions = gpu.instructions();
  const bool no_instructions = instructions.empty();
  files.push_back({"instructions.csv", std::move(instructions), no_instructions});
}

}  // namespace weft::cli
