#include "platform/recorders.h"

#include "common/number.h"
#include "platform/instruction_table.h"
#include "weft/common/error.h"

namespace weft {

Beats beats_of(const sm::Sm& sm) {
  return {sm.lanes(), sm.beats_in_a_cycle(), sm.core().warp_width()};
}

void Recorders::bound() {
  if (parts_.config.sm.observe.events) energy_.emplace(parts_.statistics, parts_.config);
}

void Recorders::launch_began(const execute::Kernel& kernel, Cycle now, bool alone) {
  if (waveforms_.has_value()) waveforms_->recordings().wake();
  if (timeline_.has_value()) timeline_->launch_began(kernel, parts_.launches.begun(), now + 1);
  if (alone && sampler_.has_value()) sampler_->begun(now);
}

void Recorders::launch_ended(const execute::Kernel& kernel, Cycle last) {
  if (timeline_.has_value()) timeline_->launch_ended(kernel, last);
}

void Recorders::reset_begins() {
  for (auto& recorder : instruction_recorders_) recorder.charge_cycles();
  if (sampler_.has_value()) sampler_->finish();
  if (log_.has_value()) log_->forget();
  if (timeline_.has_value()) timeline_->reset();
}

void Recorders::reset_ends() {
  if (waveforms_.has_value()) waveforms_->recordings().reset();
  if (sampler_.has_value()) sampler_->reset();
  if (log_.has_value()) log_->reset();
}

void Recorders::archive(Archive& archive) {
  if (sampler_.has_value()) archive(*sampler_);
  if (log_.has_value()) archive(*log_);
}

void Recorders::profile(sm::InstructionProfile* profile) {
  if (profile == nullptr && parts_.config.sm.observe.instructions) profile = &own_profile_;
  profile_ = profile;
  for (auto& recorder : instruction_recorders_) recorder.count_in(profile);
}

// The clock's process is already asleep when the simulation runs, and a part added then would not be stepped.
Waveforms& Recorders::waveforms(const std::string& where) {
  if (sc_core::sc_start_of_simulation_invoked())
    throw InputError(where, "waveforms must be requested before the simulation starts");
  if (!waveforms_.has_value()) {
    waveforms_.emplace(Waveforms::Parts{parts_.core, parts_.sms, parts_.crossbar, parts_.l2, parts_.channels,
                                        parts_.system, parts_.host, parts_.launches, parts_.statistics,
                                        energy(), parts_.faulted});
  }
  return *waveforms_;
}

void Recorders::write_waveform(const std::string& file, const SignalSelection& selection) {
  Waveforms& signals = waveforms(file);
  signals.recordings().write(file, parts_.basename, signals.comments(), selection);
}

std::vector<std::string> Recorders::signals() {
  std::vector<std::string> names;
  for (const Probes::Probe& probe : waveforms(parts_.name).probes().all()) names.push_back(probe.name);
  return names;
}

void Recorders::close_waveforms() {
  if (waveforms_.has_value()) waveforms_->recordings().close();
}

void Recorders::write_timeline(const std::string& file, const TimelineSelection& selection) {
  Waveforms& signals = waveforms(file);
  if (timeline_.has_value()) throw InputError(file, "duplicate request for a timeline");
  timeline_.emplace(Timeline::Parts{parts_.core, parts_.sms, parts_.host, signals.probes(), parts_.statistics,
                                    made_launch_times(), [&signals] { return signals.busy(); }},
                    file, selection);
  parts_.host.watch([this] {
    waveforms_->recordings().wake();
    timeline_->wake();
  });
}

std::string Recorders::close_timeline() {
  if (!timeline_.has_value()) return "";
  timeline_->close();
  return timeline_->ended_early();
}

void Recorders::sample(std::uint64_t interval, std::size_t most_rows) {
  require("interval of samples, in core cycles", interval, {1, kMostSampleInterval});
  if (sampler_.has_value() || sc_core::sc_start_of_simulation_invoked())
    throw InputError(parts_.name, "samples can be requested only once, before the simulation starts");
  Launches& launches = parts_.launches;
  sampler_.emplace(Sampler::Parts{parts_.core, parts_.sms, parts_.statistics, parts_.config.sm.schedulers,
                                  beats_of(parts_.sms[0]), [&launches] { return launches.active(); },
                                  energy(), [&launches] { return launches.cycles(); }},
                   interval, most_rows);
}

void Recorders::write_down_launches() {
  if (log_.has_value() || sc_core::sc_start_of_simulation_invoked())
    throw InputError(parts_.name,
                     "a table of launches can be requested only once, before the simulation starts");
  const GpuConfig& config = parts_.config;
  const sm::Sm& sm = parts_.sms[0];
  log_.emplace(parts_.statistics,
               LaunchLog::Machine{config.sm.schedulers, beats_of(sm), config.crossbar.sms_per_interface},
               energy());
  parts_.launches.write_down(&*log_);
}

LaunchTimes& Recorders::made_launch_times() {
  if (!launch_times_.has_value())
    launch_times_.emplace(parts_.host.packet_observers(), parts_.sms, parts_.core);
  return *launch_times_;
}

void Recorders::time_launches() {
  if (times_launches_ || sc_core::sc_start_of_simulation_invoked())
    throw InputError(parts_.name,
                     "times of launches can be requested only once, before the simulation starts");
  times_launches_ = true;
  made_launch_times();
}

std::vector<Recordings::LaunchStage> Recorders::launch_stages() {
  return times_launches_ ? launch_times_->stages() : std::vector<LaunchStage>();
}

std::string Recorders::launch_times() {
  return times_launches_ ? launch_times_->csv() : "";
}

std::string Recorders::samples() {
  if (!sampler_.has_value()) return "";
  sampler_->finish();
  return sampler_->csv();
}

std::string Recorders::power() {
  if (!sampler_.has_value()) return "";
  sampler_->finish();
  return sampler_->power();
}

std::string Recorders::launches() {
  parts_.settle();
  return log_.has_value() ? log_->csv() : "";
}

std::string Recorders::instructions() {
  parts_.settle();
  if (!parts_.config.sm.observe.instructions) return "";
  for (auto& recorder : instruction_recorders_) recorder.charge_cycles();
  return instruction_csv(*profile_);
}

}  // namespace weft
