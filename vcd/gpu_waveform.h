// The waveforms of a GPU: samples its probes at the edges of the core clock, for one or several recordings,
// each of which has signals, a time and a place of its own.
//
// Stepped last in the core domain, so it sees what each part did at that edge. While nothing happens it
// sleeps, and it only reads: results and statistics are those of a run without it. Signals: vcd/README.md.
#ifndef WEFT_VCD_GPU_WAVEFORM_H
#define WEFT_VCD_GPU_WAVEFORM_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "bus/clock_domain.h"
#include "common/probes.h"
#include "vcd/signal_sink.h"
#include "weft/platform/signal_selection.h"

namespace weft::vcd {

class GpuWaveform final : public Clocked {
 public:
  struct Parts {
    ClockDomain& core;
    const Probes& probes;
    // Launches begun so far.
    std::function<std::uint64_t()> launches;
    // Whether anything may still change at the next edge.
    std::function<bool()> busy;
    // Told what is recorded before the first sample, and nothing after the last: probes of what happens at an
    // edge need its record.
    std::function<void(const Signals& recorded)> watch;
  };

  // The core clock among the signals, if it is one: high from an edge on, low from the middle of the cycle
  // on, and at rest while nothing happens.
  static constexpr const char* kClock = "clock";

  // Registers itself with the core clock: create it after all other parts and before the simulation starts.
  // Parts outlive it.
  explicit GpuWaveform(Parts parts);
  ~GpuWaveform() override;

  // Adds a recording. Both throw InputError, which names `where` (the file), if the selection matches no
  // signal or no time; `write` also if the file cannot be written. `scope`: the outermost one.
  void write(const std::string& file, const std::string& scope, const std::vector<std::string>& comments,
             const SignalSelection& selection);
  void trace(sc_core::sc_trace_file* file, const std::string& prefix, const SignalSelection& selection,
             const std::string& where);

  // Something begins.
  void wake();
  // The GPU was reset: the waveform goes on.
  void reset() { wake(); }
  // Ends all recordings. Throws InputError if a file could not be written to its end; says so once.
  void close();

  Cycle step(Cycle now) override;

 private:
  // What a sample needs of a signal, close together in memory.
  struct Sampled {
    const std::uint64_t* counter;                  // nullptr: it has to be asked for
    Probes::Read read;                             // empty: a text
    const Probes::ReadText* text;                  // of the probe
    std::uint64_t most;                            // that its bits hold
    std::uint64_t read_value = Probes::kUndriven;  // at the last sample, before it is cut to its bits
  };
  // Signals next to each other with one version. Those of a part that rests keep their values.
  struct Span {
    const Probes::Version* version = nullptr;
    std::size_t begin = 0, end = 0;
    std::optional<std::uint64_t> seen{};  // the version at the last sample
  };
  struct Recording {
    SignalSelection selection;
    std::vector<Sampled> signals;
    std::vector<Span> spans;
    std::unique_ptr<SignalSink> sink;
    std::optional<std::size_t> clock{};  // which signal is the clock
    Cycle sampled = 0;                   // the last edge; 0: none yet
    bool ended = false;
  };

  Signals chosen(const SignalSelection& selection, const std::string& where) const;
  static std::vector<Span> spans_of(const Signals& signals);
  void add(const SignalSelection& selection, const Signals& signals, std::unique_ptr<SignalSink> sink);
  void sample(Recording& recording, Cycle now);
  static void read(Recording& recording, const Span& span, Cycle now);
  void fall();
  void end(Recording& recording);
  std::uint64_t picoseconds(Cycle edge) const;

  const Parts parts_;
  const std::uint64_t units_;  // SystemC's time resolution: units per picosecond
  const Cycle reach_;          // edges beyond have no time
  const std::size_t index_;
  std::unique_ptr<sc_core::sc_event> half_;  // the middle of a cycle; without a clock there is none
  Cycle wanted_ = kNever;  // no sample before: with sleeping switched off, steps come unasked
  std::vector<Recording> recordings_;
  Signals recorded_;  // by all of them
};

}  // namespace weft::vcd

#endif
