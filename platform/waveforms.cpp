#include "platform/waveforms.h"

#include <algorithm>
#include <cmath>

#include "common/demangle.h"

namespace weft {

Waveforms::Waveforms(const Parts& parts)
    : parts_(parts),
      waveform_({parts.core, probes_, [&launches = parts.launches] { return launches.begun(); },
                 [this] { return busy(); }, [this](const vcd::Signals& recorded) { watch(recorded); }}) {
  for (auto& sm : parts.sms) signals_.emplace_back(sm);
  add_probes();
  parts_.host.watch([this] { waveform_.wake(); });
}

std::vector<std::string> Waveforms::comments() const {
  std::string stalls = "stall:";
  for (unsigned s = 0; s < warp_formation::kStalls; ++s) {
    stalls += " " + std::to_string(s) + "=" + bucket_name(static_cast<warp_formation::Stall>(s));
  }
  return {
      "core clock " + std::to_string(parts_.core.megahertz()) + " MHz; a value holds from one core edge on",
      stalls};
}

// SMs of which nothing is recorded keep no record.
void Waveforms::watch(const vcd::Signals& recorded) {
  for (unsigned i = 0; i < signals_.size(); ++i) {
    const std::string scope = statistics::name_of("sm", i) + ".";
    bool any = false, details = false;
    for (const Probes::Probe* signal : recorded) {
      if (signal->name.compare(0, scope.size(), scope) != 0) continue;
      any = true;
      details = details || signal->detail;
    }
    signals_[i].keep(any, details);
  }
}

void Waveforms::add_probes() {
  const Probes::Scope root = probes_.root();
  add_launches();
  if (parts_.energy != nullptr) {
    for (const statistics::Group* sm : parts_.statistics.groups({"sm"}))
      power_.meters.push_back(parts_.energy->of_sm(*sm));
    power_.picojoules.resize(parts_.sms.size(), 0);
    power_.milliwatts.resize(parts_.sms.size(), 0);
  }
  const std::vector<const statistics::Group*> groups = parts_.statistics.groups({"sm"});
  for (unsigned i = 0; i < parts_.sms.size(); ++i) {
    // The dispatcher calls each SM when a launch begins and ends.
    const Probes::Scope sm = root.scope("sm", i).with([&part = parts_.sms[i], &launches = parts_.launches] {
      return part.activity() + 2 * launches.begun() - (launches.active() ? 1 : 0);
    });
    signals_[i].probes(sm);
    if (parts_.energy != nullptr) {
      sm.without_version().signal("power_mw", Probes::kNumberBits, [this, i](Cycle now) {
        meter(now);
        return power_.milliwatts[i];
      });
    }
    sm.gauges(*groups[i]);
    for (const char* cache : {"l1d", "l1c", "l1t"}) {
      for (const statistics::Group* group : groups[i]->groups({"memory", cache}))
        sm.scope("memory").scope(cache).counters(*group, {"hits", "misses"});
    }
  }
  parts_.crossbar.probes(root.scope("crossbar"));
  for (unsigned i = 0; i < parts_.l2.size(); ++i) parts_.l2[i].probes(root.scope("l2", i));
  for (unsigned i = 0; i < parts_.channels.size(); ++i) parts_.channels[i].probes(root.scope("dram", i));
  parts_.system.probes(root);
  parts_.host.probes(root.scope("host"));
  root.details().signal(vcd::GpuWaveform::kClock, 1, [](Cycle) { return 1; });  // at the edge
}

void Waveforms::add_launches() {
  const Launches& launches = parts_.launches;
  const Probes::Scope root = probes_.root();
  root.signal("launch", Probes::kNumberBits, [&launches](Cycle) { return launches.begun(); });
  root.text("kernel", [this](Cycle) { return kernels(); });
  root.signal("blocks_done", Probes::kMostBits,
              [&launches](Cycle) { return launches.dispatcher().blocks_done(); });
  root.signal("blocks_total", Probes::kMostBits,
              [&launches](Cycle) { return launches.dispatcher().blocks(); });
}

// "scale<float> + advance" for "_Z5scaleIfEvPT_i + advance".
std::string_view Waveforms::kernels() {
  const std::string& names = parts_.launches.kernel_names();
  if (names == kernels_) return shown_kernels_;
  static const std::string kBetween = " + ";
  kernels_ = names;
  shown_kernels_.clear();
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find(kBetween, begin), names.size());
    if (!shown_kernels_.empty()) shown_kernels_ += kBetween;
    shown_kernels_ += function_name(names.substr(begin, end - begin));
    begin = end + (end == names.size() ? 0 : kBetween.size());
  }
  return shown_kernels_;
}

// Of the cycle, or of those since the last that was looked at. An SM that sleeps has not counted its clock
// yet. After a reset everything counts from 0 again.
void Waveforms::meter(Cycle now) {
  if (power_.metered == now) return;
  const auto cycles = static_cast<double>(now - std::min(power_.metered, now - 1));
  for (unsigned i = 0; i < power_.meters.size(); ++i) {
    parts_.sms[i].settle(now + 1);
    const double sum = parts_.energy->picojoules_of_sm(power_.meters[i]);
    const double milliwatts =
        std::max(0.0, sum - power_.picojoules[i]) * parts_.core.megahertz() * 1e-3 / cycles;
    power_.milliwatts[i] = static_cast<std::uint64_t>(std::llround(milliwatts));
    power_.picojoules[i] = sum;
  }
  power_.metered = now;
}

// After the last launch requests of it may still be on their way to memory; after a fault nothing moves.
bool Waveforms::busy() const {
  if (parts_.launches.active() || parts_.host.active()) return true;
  if (parts_.faulted()) return false;
  const auto waits = [](const auto& part) { return !part.idle(); };
  return std::any_of(parts_.l2.begin(), parts_.l2.end(), waits) ||
         std::any_of(parts_.channels.begin(), parts_.channels.end(),
                     [](const dram::DramChannel& channel) { return channel.queued() != 0; });
}

}  // namespace weft
