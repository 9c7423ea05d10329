#include "study/session/trace.h"

#include <utility>

#include "study/session/time_window.h"
#include "weft/common/error.h"

namespace weft::study {

std::unique_ptr<FstPipe> start_trace(Gpu& gpu, const TraceOptions& options) {
  const SignalSelection& selection = options.selection;
  if (options.file.empty()) {
    if (selection.signals.empty() && selection.is_everything()) return nullptr;
    throw InputError("--vcd-...", "needs the file of the waveforms: --vcd FILE");
  }
  check_window_options("vcd", selection);
  if (!FstPipe::wanted_for(options.file)) {
    gpu.recordings().write_waveform(options.file, selection);
    return nullptr;
  }
  auto pipe = std::make_unique<FstPipe>(options.file);
  gpu.recordings().write_waveform(pipe->input(), selection);
  pipe->close_input();
  return pipe;
}

void finish_trace(Gpu& gpu, FstPipe* pipe) {
  if (pipe == nullptr) return gpu.recordings().close_waveforms();
  std::string problem;
  try {
    gpu.recordings().close_waveforms();
  } catch (const InputError& error) {
    problem = error.what();
  }
  pipe->finish();  // knows better what was wrong
  if (!problem.empty()) throw InputError("", problem);
}

void start_tables(Gpu& gpu, std::uint64_t interval, const std::string& folder, bool functional) {
  if (interval != 0 && folder.empty())
    throw InputError("--sample", "needs a folder for samples.csv; give --out DIR");
  if (folder.empty() || functional) return;
  if (interval != 0) gpu.recordings().sample(interval);
  gpu.recordings().write_down_launches();
}

void add_tables(Gpu& gpu, std::vector<TextFile>& files) {
  std::string samples = gpu.recordings().samples(), power = gpu.recordings().power(),
              launches = gpu.recordings().launches();
  const bool no_samples = samples.empty(), no_power = power.empty(), no_launches = launches.empty();
  files.push_back({"samples.csv", std::move(samples), no_samples});
  files.push_back({"power.csv", std::move(power), no_power});
  files.push_back({"launches.csv", std::move(launches), no_launches});
  std::string launch_times = gpu.recordings().launch_times();
  const bool no_times = launch_times.empty();
  files.push_back({"launch_times.csv", std::move(launch_times), no_times});
  std::string instructions = gpu.recordings().instructions();
  const bool no_instructions = instructions.empty();
  files.push_back({"instructions.csv", std::move(instructions), no_instructions});
}

}  // namespace weft::study
