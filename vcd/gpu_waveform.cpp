#include "vcd/gpu_waveform.h"

#include <algorithm>

#include "vcd/signal_patterns.h"
#include "weft/common/error.h"

namespace weft::vcd {
GpuWaveform::GpuWaveform(Parts parts)
    : parts_(std::move(parts)),
      units_(sc_core::sc_time(1, sc_core::SC_PS).value()),
      reach_(parts_.core.first_edge_after(sc_core::sc_max_time() * 0.5)),
      index_(parts_.core.add(*this)) {}

GpuWaveform::~GpuWaveform() {
  for (Recording& recording : recordings_) end(recording);
}

Signals GpuWaveform::chosen(const SignalSelection& selection, const std::string& where) const {
  selection.check(where, "waveform");
  return matching(parts_.probes, selection.signals, where);
}

void GpuWaveform::write(const std::string& file, const std::string& scope,
                        const std::vector<std::string>& comments, const SignalSelection& selection) {
  const Signals signals = chosen(selection, file);
  auto sink = std::make_unique<VcdSink>(file, scope, comments, signals);
  add(selection, signals, std::move(sink));
}

void GpuWaveform::trace(sc_core::sc_trace_file* file, const std::string& prefix,
                        const SignalSelection& selection, const std::string& where) {
  const Signals signals = chosen(selection, where);
  auto sink = std::make_unique<ScTraceSink>(file, prefix, signals);
  add(selection, signals, std::move(sink));
}

// Signals of one version stand next to each other.
std::vector<GpuWaveform::Span> GpuWaveform::spans_of(const Signals& signals) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (spans.empty() || spans.back().version != signals[i]->version)
      spans.push_back({signals[i]->version, i});
    spans.back().end = i + 1;
  }
  return spans;
}

// Edges count from 1.
void GpuWaveform::add(const SignalSelection& selection, const Signals& signals,
                      std::unique_ptr<SignalSink> sink) {
  Recording recording{selection, {}, spans_of(signals), std::move(sink)};
  for (const Probes::Probe* signal : signals) {
    if (signal->name == kClock) recording.clock = recording.signals.size();
    recording.signals.push_back({signal->counter, signal->read, &signal->read_text, signal->most()});
  }
  Cycle& first = recording.selection.first_cycle;
  first = first > reach_ ? kNever : std::max<Cycle>(first, 1);
  wanted_ = std::min(wanted_, first);
  if (recording.clock && half_ == nullptr) {
    half_ = std::make_unique<sc_core::sc_event>(sc_core::sc_gen_unique_name("waveform_clock_half"));
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(half_.get());
    sc_core::sc_spawn([this] { fall(); }, sc_core::sc_gen_unique_name("waveform_clock"), &options);
  }
  recorded_.insert(recorded_.end(), signals.begin(), signals.end());
  parts_.watch(recorded_);
  recordings_.push_back(std::move(recording));
}

void GpuWaveform::wake() {
  const Cycle next = parts_.core.next_edge();
  if (wanted_ <= next) return;
  Cycle at = kNever;
  for (const Recording& recording : recordings_) {
    if (!recording.ended) at = std::min(at, std::max(next, recording.selection.first_cycle));
  }
  wanted_ = std::min(wanted_, at);
  if (wanted_ != kNever) parts_.core.wake_at(index_, wanted_);
}

Cycle GpuWaveform::step(Cycle now) {
  if (now < wanted_) return wanted_;
  wanted_ = kNever;
  const std::uint64_t launches = parts_.launches();
  bool records = false;
  for (Recording& recording : recordings_) {
    const SignalSelection& selection = recording.selection;
    if (recording.ended) continue;
    if (now > selection.last_cycle || launches > selection.last_launch) {
      end(recording);
    } else if (now < selection.first_cycle) {
      wanted_ = std::min(wanted_, selection.first_cycle);
    } else if (launches >= selection.first_launch) {
      sample(recording, now);
      records = records || !recording.ended;
      // So that the last value does not seem to hold for longer.
      if (selection.last_cycle < reach_) wanted_ = std::min(wanted_, selection.last_cycle + 1);
    }
  }
  if (records && parts_.busy()) wanted_ = now + 1;
  return wanted_;
}

void GpuWaveform::sample(Recording& recording, Cycle now) {
  SignalSink& sink = *recording.sink;
  recording.sampled = now;
  sink.at(picoseconds(now));
  for (Span& span : recording.spans) {
    if (span.version != nullptr) {
      const std::uint64_t version = (*span.version)();
      if (span.seen == version) continue;
      span.seen = version;
    }
    read(recording, span, now);
  }
  sink.sampled();
  if (!sink.open()) return end(recording);
  if (recording.clock) half_->notify((parts_.core.time_of(now + 1) - parts_.core.time_of(now)) / 2);
}

void GpuWaveform::fall() {
  for (Recording& recording : recordings_) {
    if (recording.ended || !recording.clock || recording.sampled == 0) continue;
    Sampled& clock = recording.signals[*recording.clock];
    if (clock.read_value != 1) continue;
    clock.read_value = 0;
    recording.sink->at(sc_core::sc_time_stamp().value() / units_);
    recording.sink->set(*recording.clock, 0);
  }
}

void GpuWaveform::read(Recording& recording, const Span& span, Cycle now) {
  SignalSink& sink = *recording.sink;
  Sampled* const signals = recording.signals.data();
  for (std::size_t i = span.begin; i < span.end; ++i) {
    Sampled& signal = signals[i];
    if (signal.counter == nullptr && !signal.read) {
      sink.set(i, (*signal.text)(now));
      continue;
    }
    const std::uint64_t value = signal.counter != nullptr ? *signal.counter : signal.read(now);
    if (value == signal.read_value) continue;
    signal.read_value = value;
    sink.set(i, Probes::Probe::shown(value, signal.most));
  }
}

void GpuWaveform::end(Recording& recording) {
  if (recording.ended) return;
  recording.ended = true;
  recording.sink->end(picoseconds(recording.sampled + 1));
  const auto ended = [](const Recording& other) { return other.ended; };
  if (std::all_of(recordings_.begin(), recordings_.end(), ended)) parts_.watch({});
}

void GpuWaveform::close() {
  std::string error;
  for (Recording& recording : recordings_) {
    end(recording);
    if (error.empty()) error = recording.sink->error();
  }
  if (!error.empty()) throw InputError("", error);
}

std::uint64_t GpuWaveform::picoseconds(Cycle edge) const {
  return parts_.core.time_of(edge).value() / units_;
}

}  // namespace weft::vcd
