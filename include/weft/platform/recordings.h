// What can be recorded of a run of the GPU: waveforms, a timeline, tables of samples, launches and
// instructions. What is not asked for costs nothing.
//
//   gpu.recordings().write_waveform("run.vcd");        // before the simulation starts
//   ...
//   gpu.recordings().close_waveforms();
#ifndef WEFT_PLATFORM_RECORDINGS_H
#define WEFT_PLATFORM_RECORDINGS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/platform/signal_selection.h"
#include "weft/platform/timeline_selection.h"

namespace weft {

namespace sm {
class InstructionProfile;
}

class Recordings {
 public:
  virtual ~Recordings() = default;

  // Waveforms (vcd/README.md), in files of our own; Gpu::trace puts them into one of SystemC's. Before the
  // simulation starts, any number of them; InputError if it has, if a pattern matches no signal or a range of
  // cycles or launches is empty, or if the file cannot be written.
  virtual void write_waveform(const std::string& file, const SignalSelection& selection) = 0;
  void write_waveform(const std::string& file) { write_waveform(file, SignalSelection()); }
  // Ends all waveforms. InputError if a file of our own is not complete because it could not be written: the
  // run went on without it. The destructor ends them silently.
  virtual void close_waveforms() = 0;
  // The names of all signals, without the GPU's own. Before the simulation starts.
  virtual std::vector<std::string> signals() = 0;

  // A timeline (vcd/TIMELINE.md), once and before the simulation starts; InputError as for waveforms. Its end
  // throws as theirs does, and returns why the file ends before its time, if it has reached its size.
  virtual void write_timeline(const std::string& file, const TimelineSelection& selection) = 0;
  void write_timeline(const std::string& file) { write_timeline(file, TimelineSelection()); }
  virtual std::string close_timeline() = 0;

  // Tables of what the SMs do from now on, as CSV (study/session/results.md says what the columns are): a row
  // per `interval` core cycles and SM, and a row per launch. Were there more than `most_rows` samples, pairs
  // of intervals become one. Each is asked for once, before the simulation starts; InputError if it has, or
  // if the interval is not 1 to kMostSampleInterval. A reset does not end them.
  static constexpr std::uint64_t kMostSampleInterval = 1'000'000'000;
  static constexpr std::size_t kMostSamples = std::size_t{1} << 20;
  virtual void sample(std::uint64_t interval, std::size_t most_rows) = 0;
  void sample(std::uint64_t interval) { sample(interval, kMostSamples); }
  virtual void write_down_launches() = 0;
  // Where the time goes of launches that come as packets (weft_kernel_dispatch_packet), from the doorbell to
  // the interrupt's handler; asked for as the tables above are.
  virtual void time_launches() = 0;
  // One part of that time, over all launches that have it. Times are simulated.
  struct LaunchStage {
    std::string name, meaning;
    std::uint64_t launches = 0;
    double mean_ns = 0, least_ns = 0, most_ns = 0;
  };
  virtual std::vector<LaunchStage> launch_stages() = 0;  // in order, and "total"; empty if not asked for
  virtual std::string launch_times() = 0;                // as CSV, a row per launch
  // The tables by now; empty if not asked for.
  virtual std::string samples() = 0;
  virtual std::string power() = 0;  // of the whole GPU in the same intervals; needs sm.observe.events, too
  virtual std::string launches() = 0;

  // Counts instructions of the launches from now on in `profile`, which outlives them; nullptr: does not, or,
  // with sm.observe.instructions, in one of its own.
  virtual void profile(sm::InstructionProfile* profile) = 0;
  virtual const sm::InstructionProfile* profile() const = 0;
  // A row per instruction of the kernels that ran in time; empty without sm.observe.instructions.
  virtual std::string instructions() = 0;
};

}  // namespace weft

#endif
