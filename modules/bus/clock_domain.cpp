#include "bus/clock_domain.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "weft/common/error.h"

namespace weft {
namespace {

// kHz edges take exactly one millisecond.
constexpr std::uint64_t kPicosecondsPerMillisecond = 1'000'000'000;

std::uint64_t checked_kilohertz(const char* where, double megahertz) {
  if (!(megahertz >= 0.001 && megahertz <= 100'000.0)) {
    throw InputError(where, "clock of " + std::to_string(megahertz) + " MHz; allowed: 0.001 to 100000 MHz");
  }
  return static_cast<std::uint64_t>(std::llround(megahertz * 1e3));
}

std::uint64_t checked_units(const char* where) {
  if (sc_core::sc_get_time_resolution() > sc_core::sc_time(1, sc_core::SC_PS)) {
    throw InputError(where, "time resolution of SystemC is " + sc_core::sc_get_time_resolution().to_string() +
                                "; allowed: 1 ps or finer");
  }
  return sc_core::sc_time(1, sc_core::SC_PS).value();
}

}  // namespace

ClockDomain::ClockDomain(sc_core::sc_module_name name, double megahertz)
    : sc_module(name),
      kilohertz_(checked_kilohertz(this->name(), megahertz)),
      units_(checked_units(this->name())) {
  SC_METHOD(run);
  sensitive << event_;
  dont_initialize();
}

std::size_t ClockDomain::add(Clocked& module) {
  modules_.push_back({&module, following_});
  next_ = std::min(next_, following_);
  return modules_.size() - 1;
}

void ClockDomain::start_of_simulation() {
  if (!modules_.empty()) schedule();
}

void ClockDomain::wake(std::size_t index) {
  wake_at(index, 0);
}

void ClockDomain::wake_at(std::size_t index, Cycle at) {
  Module& module = modules_[index];
  ++module.activity;
  at = std::max(at, next_edge());
  if (at >= module.due) return;
  module.due = at;
  if (at >= next_) return;
  next_ = at;
  if (!stepping_) schedule();
}

void ClockDomain::reset() {
  stepping_ = false;
  event_.cancel();
  following_ = next_edge();
  for (Module& module : modules_) {
    module.due = following_;
    ++module.activity;
  }
  next_ = modules_.empty() ? kNever : following_;
  schedule();
}

void ClockDomain::archive(Archive& archive, std::size_t index) {
  std::vector<Cycle> due;
  for (const Module& module : modules_) due.push_back(module.due);
  Cycle following = following_;
  if (archive.writes() && index != kNotStepping) due[index] = --following;
  archive(due, following);
  if (archive.writes()) return;
  if (due.size() != modules_.size()) throw BadArchive("has clock domains with other modules");
  following_ = following;
  next_ = kNever;
  for (std::size_t i = 0; i < due.size(); ++i) {
    modules_[i].due = due[i];
    ++modules_[i].activity;
    next_ = std::min(next_, due[i]);
  }
  if (!sleeping_) next_ = std::min(next_, following_);
  event_.cancel();
  schedule();
}

// The predecessors' edges at this instant are run from here rather than waited for: it saves a delta cycle,
// and their own processes then find nothing due. Since a wake never means the present instant, no edge can be
// added to this instant afterwards.
void ClockDomain::run() {
  const std::uint64_t now = now_picoseconds();
  for (ClockDomain* other : predecessors_) {
    if (other->next_ps_ <= now) other->run();
  }
  if (next_ps_ > now) return;

  const Cycle edge = next_;
  following_ = edge + 1;
  next_ = sleeping_ ? kNever : following_;
  stepping_ = true;
  Cycle next = kNever;  // apart from `next_`, which a wake may lower meanwhile
  for (Module& module : modules_) {
    if (module.due <= edge || !sleeping_) {
      module.due = kNever;
      ++module.activity;
      const Cycle wanted = std::max(module.clocked->step(edge), following_);
      module.due = std::min(module.due, wanted);
    }
    next = std::min(next, module.due);
  }
  next_ = std::min(next_, next);
  stepping_ = false;
  schedule();
}

void ClockDomain::schedule() {
  if (next_ == kNever) {
    next_ps_ = kNever;
    return;
  }
  next_ps_ = picoseconds(next_);
  event_.notify(sc_core::sc_time::from_value((next_ps_ - now_picoseconds()) * units_));
}

Cycle ClockDomain::next_edge() const {
  return stepping_ ? following_ : edge_after(now_picoseconds());
}

Cycle ClockDomain::current_edge() const {
  return next_edge() - 1;
}

Cycle ClockDomain::first_edge_after(const sc_core::sc_time& time) const {
  return edge_after(time.value() / units_);
}

sc_core::sc_time ClockDomain::time_of(Cycle edge) const {
  return sc_core::sc_time::from_value(picoseconds(edge) * units_);
}

std::uint64_t ClockDomain::now_picoseconds() const {
  const std::uint64_t value = sc_core::sc_time_stamp().value();
  return units_ == 1 ? value : value / units_;
}

// round(edge / f) in picoseconds. Whole milliseconds are split off, so that 64 bits suffice and nothing is
// lost.
std::uint64_t ClockDomain::picoseconds(Cycle edge) const {
  const std::uint64_t milliseconds = edge / kilohertz_;
  const std::uint64_t rest = edge % kilohertz_;
  return milliseconds * kPicosecondsPerMillisecond +
         (rest * kPicosecondsPerMillisecond + kilohertz_ / 2) / kilohertz_;
}

// The smallest n with picoseconds(n) >= time + 1, by solving the rounded division above for n.
Cycle ClockDomain::edge_after(std::uint64_t time) const {
  if (time >= window_begin_ps_ && time < window_end_ps_) return window_edge_;
  const std::uint64_t milliseconds = (time + 1) / kPicosecondsPerMillisecond;
  const std::uint64_t scaled = (time + 1) % kPicosecondsPerMillisecond * kilohertz_;
  const std::uint64_t half = kilohertz_ / 2;
  const std::uint64_t rest =
      scaled <= half ? 0 : (scaled - half + kPicosecondsPerMillisecond - 1) / kPicosecondsPerMillisecond;
  window_edge_ = milliseconds * kilohertz_ + rest;
  window_begin_ps_ = picoseconds(window_edge_ - 1);
  window_end_ps_ = picoseconds(window_edge_);
  return window_edge_;
}

}  // namespace weft
