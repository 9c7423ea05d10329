// What records a run of a GPU: waveforms, a timeline, samples, the table of launches, energy, and what each
// instruction did. Each is there once it has been asked for; without, it costs nothing.
#ifndef WEFT_PLATFORM_RECORDERS_H
#define WEFT_PLATFORM_RECORDERS_H

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/energy_columns.h"
#include "platform/launch_log.h"
#include "platform/launch_times.h"
#include "platform/launches.h"
#include "platform/sampler.h"
#include "platform/timeline.h"
#include "platform/waveforms.h"
#include "sm/instruction_profile.h"
#include "sm/observers/instruction_recorder.h"
#include "sm/sm.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/platform/gpu_config.h"
#include "weft/platform/recordings.h"

namespace weft {

Beats beats_of(const sm::Sm& sm);

class Recorders final : public Recordings {
 public:
  // The parts that are looked at. They outlive it.
  struct Parts {
    const GpuConfig& config;
    ClockDomain& core;
    std::deque<sm::Sm>& sms;
    const crossbar::Crossbar& crossbar;
    const std::deque<l2::L2Bank>& l2;
    const std::deque<dram::DramChannel>& channels;
    const SystemSide& system;
    host::HostInterface& host;
    Launches& launches;
    statistics::Group& statistics;
    std::function<bool()> faulted;
    std::function<void()> settle;  // the statistics, before they are read
    std::string name, basename;    // of the GPU
  };
  explicit Recorders(Parts parts) : parts_(std::move(parts)) {
    for (auto& sm : parts_.sms) instruction_recorders_.emplace_back(sm);
  }

  // The statistics are complete: before any of what follows.
  void bound();
  // Waveforms or a timeline, which follow signals.
  bool follow_signals() const { return waveforms_.has_value(); }

  // A launch begins at edge `now`; `alone`: none ran. It has ended after `last`.
  void launch_began(const execute::Kernel& kernel, Cycle now, bool alone);
  void launch_ended(const execute::Kernel& kernel, Cycle last);
  // The GPU is about to be reset, while the statistics are still there; and has been.
  void reset_begins();
  void reset_ends();
  void archive(Archive& archive);

  // Made if need be. Throws InputError, which begins with `where`, if it is too late.
  Waveforms& waveforms(const std::string& where);

  void write_waveform(const std::string& file, const SignalSelection& selection) override;
  void close_waveforms() override;
  std::vector<std::string> signals() override;
  void write_timeline(const std::string& file, const TimelineSelection& selection) override;
  std::string close_timeline() override;
  void sample(std::uint64_t interval, std::size_t most_rows) override;
  void write_down_launches() override;
  void time_launches() override;
  std::vector<LaunchStage> launch_stages() override;
  std::string launch_times() override;
  std::string samples() override;
  std::string power() override;
  std::string launches() override;
  void profile(sm::InstructionProfile* profile) override;
  const sm::InstructionProfile* profile() const override { return profile_; }
  std::string instructions() override;

 private:
  LaunchTimes& made_launch_times();
  EnergyColumns* energy() { return energy_.has_value() ? &*energy_ : nullptr; }

  const Parts parts_;
  std::optional<Sampler> sampler_;
  std::optional<LaunchLog> log_;
  std::deque<sm::InstructionRecorder> instruction_recorders_;  // by SM
  sm::InstructionProfile own_profile_;                         // with sm.observe.instructions
  const sm::InstructionProfile* profile_ = nullptr;            // nullptr: instructions are not counted
  std::optional<EnergyColumns> energy_;                        // with sm.observe.events
  std::optional<LaunchTimes> launch_times_;
  bool times_launches_ = false;  // as a table
  std::optional<Waveforms> waveforms_;
  std::optional<Timeline> timeline_;  // after these, whose signals it reads
};

}  // namespace weft

#endif
