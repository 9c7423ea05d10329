// The waveform of a GPU: samples its parts at every core edge of a window and writes what changed.
//
// Stepped last in the core domain, so it sees what each part did at that edge. Between launches it sleeps,
// and it only reads: results and statistics are those of a run without it. Signals: vcd/README.md.
#ifndef WEFT_VCD_GPU_WAVEFORM_H
#define WEFT_VCD_GPU_WAVEFORM_H

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock_domain.h"
#include "gddr5/gddr5_channel.h"
#include "l2/l2_bank.h"
#include "sm/sm.h"
#include "vcd/vcd_writer.h"

namespace weft::vcd {

// What the launches are doing.
struct LaunchState {
  bool active = false;   // a launch is running
  bool faulted = false;  // nothing moves any more
  std::uint64_t launches = 0, blocks_done = 0, blocks_total = 0;
  std::string_view kernel;
};

// The parts that are looked at; they outlive the waveform.
struct Parts {
  ClockDomain& core;
  std::deque<sm::Sm>& sms;
  const std::deque<l2::L2Bank>& l2;
  const std::deque<gddr5::Gddr5Channel>& channels;
  std::function<LaunchState()> launches;
};

// Core cycles: numbers of edges of the core clock, both included.
struct Window {
  Cycle first = 0, last = kNever;
};

class GpuWaveform final : public Clocked {
 public:
  // Registers itself with the core clock: create it after all other parts and before the simulation starts.
  // `scope` is the outermost scope. Throws InputError if the file cannot be written.
  GpuWaveform(const std::string& file, const std::string& scope, Window window, Parts parts);
  ~GpuWaveform() override;

  // A launch begins.
  void wake();
  // The GPU was reset: the waveform goes on.
  void reset();
  // Ends the waveform after the last cycle sampled. Throws InputError if part of it could not be written;
  // says so once.
  void close();

  Cycle step(Cycle now) override;

 private:
  using Signal = VcdWriter::Signal;
  struct SmSignals {
    Signal pc, active_lanes, stall, ready_warps;
  };
  struct L2Signals {
    Signal input_queue, pipeline, mshrs, miss_queue, response_queue;
  };

  void define(const std::string& scope);
  // Whether anything may still change.
  bool sample(Cycle now);
  bool sample_memory();
  void finish();
  std::uint64_t picoseconds(Cycle edge) const;

  const Parts parts_;
  const Window window_;
  const std::uint64_t units_;  // SystemC's time resolution: units per picosecond
  VcdWriter vcd_;
  const std::size_t index_;
  Cycle wanted_ = 0;   // no sample before: with sleeping switched off, steps come unasked
  Cycle sampled_ = 0;  // the last edge that was sampled
  std::vector<sm::SmTrace> traces_;

  Signal launch_{}, kernel_{}, blocks_done_{}, blocks_total_{};
  std::vector<SmSignals> sms_;
  std::vector<L2Signals> l2_;
  std::vector<Signal> channels_;
};

}  // namespace weft::vcd

#endif
