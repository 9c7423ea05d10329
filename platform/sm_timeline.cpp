#include "platform/sm_timeline.h"

#include <algorithm>
#include <utility>

#include "ptx/mnemonic.h"

namespace weft {

using vcd::TimelineWriter;

namespace {

// Of loads from beyond the SM: what shared memory, constants and parameters give comes from near.
bool has_arrow(const ptx::Instruction& in) {
  return in.is_load() && in.unit == ptx::Unit::kMemory && in.space != ptx::Space::kShared &&
         in.space != ptx::Space::kConst && in.space != ptx::Space::kParam;
}

}  // namespace

SmTimeline::Shared::Shared(Writer& w)
    : writer(w),
      issue(w.category("issue")),
      wait(w.category("wait")),
      memory(w.category("memory")),
      lane(w.category("lane")),
      pc(w.key("pc")),
      ptx_line(w.key("ptx_line")),
      threads(w.key("threads")),
      executing(w.key("executing")),
      slot(w.key("warp_slot")),
      returned(w.name("data returned")) {
  for (unsigned s = 0; s < warp_formation::kStalls; ++s)
    states[s] = w.name(bucket_name(static_cast<Stall>(s)));
  states[sm::SlotWaits::kReady] = w.name("ready");
  states[kCombined] = w.name("issued as part of another slot's warp");
}

std::shared_ptr<const InstructionNames> SmTimeline::Shared::names_of(const execute::Kernel& kernel) {
  std::shared_ptr<const InstructionNames>& known = kernels[&kernel];
  if (known != nullptr) return known;
  const ptx::Program& program = kernel.program;
  auto names = std::make_shared<InstructionNames>();
  names->of.reserve(program.code.size());
  for (const ptx::Instruction& in : program.code) {
    const ptx::SourcePlace& place = in.source.line != 0 ? in.source : in.ptx;
    names->of.push_back({writer.name(std::string(ptx::Mnemonic(in).text())),
                         writer.place(program.files.at(place.file), place.line), in.ptx.line});
  }
  known = std::move(names);
  return known;
}

SmTimeline::SmTimeline(Shared& shared, sm::Sm& sm, Writer::Track parent)
    : shared_(shared), writer_(shared.writer), sm_(sm), waits_(sm), flights_(sm::Core::kMaxIssues) {
  for (unsigned s = 0; s < sm.schedulers(); ++s)
    schedulers_.push_back(writer_.track("scheduler " + std::to_string(s), parent));
  stalls_.assign(schedulers_.size(), Stall::kEmpty);
  const Writer::Track slots = writer_.group("warp slots", parent);
  slots_.resize(sm::contexts_of(sm.core().domains));
  for (std::size_t c = 0; c < slots_.size(); ++c)
    slots_[c].track = writer_.track("warp slot " + std::to_string(c), slots);
  const Writer::Track lanes = writer_.group("lanes", parent);
  lanes_.resize(sm.lane_count());
  for (std::size_t l = 0; l < lanes_.size(); ++l)
    lanes_[l].track = writer_.track("lane " + std::to_string(l), lanes);
}

void SmTimeline::start(Cycle first) {
  sm_.attach(*this);
  if (sm_.core().kernel() == nullptr) return;
  begin(*sm_.core().kernel());
  waits_.start(false);
  show_states(first);
}

void SmTimeline::stop(Cycle end) {
  sm_.detach(*this);
  end_all(end);
}

void SmTimeline::kernel_started(const KernelStart& start) {
  begin(start.kernel);
}

void SmTimeline::begin(const execute::Kernel& kernel) {
  names_ = shared_.names_of(kernel);
  waits_.start(true);
  std::fill(flights_.begin(), flights_.end(), Flight());
}

void SmTimeline::kernel_finished(Cycle end) {
  end_all(end);
}

void SmTimeline::end_all(Cycle end) {
  for (std::size_t s = 0; s < schedulers_.size(); ++s) {
    if (stalls_[s] != Stall::kEmpty) writer_.end(end, schedulers_[s]);
    stalls_[s] = Stall::kEmpty;
  }
  for (Slot& slot : slots_) {
    close_issues(slot);
    show(slot, kNothing, end);
  }
  waits_.start(true);
  for (Lane& lane : lanes_) {
    if (lane.open) writer_.end(std::min(lane.until, end), lane.track);
    lane.open = false;
  }
  names_ = nullptr;
}

void SmTimeline::show(Slot& slot, std::uint8_t state, Cycle now) {
  if (slot.shown == state) return;
  if (slot.shown != kNothing) writer_.end(now, slot.track);
  if (state != kNothing) writer_.begin(now, slot.track, shared_.states[state], shared_.wait);
  slot.shown = state;
}

// An issue is of one cycle.
void SmTimeline::close_issues(Slot& slot) {
  for (; slot.open_issues != 0; --slot.open_issues) writer_.end(slot.issued + 1, slot.track);
}

void SmTimeline::issued(const Issue& issue) {
  if (names_ == nullptr) return;
  const sm::InFlight& of = issue.flight;
  const ptx::Instruction& instruction = *of.op->instruction;
  const std::uint32_t threads = of.threads(), executing = of.executing_threads();
  Slot& slot = slots_[issue.context];
  if (slot.issued != issue.now) close_issues(slot);
  show(slot, kNothing, issue.now);
  Flight& flight = flights_[issue.id];
  flight = {issue.context, 0};
  if (has_arrow(instruction) && executing != 0) flight.arrow = ++shared_.arrows;

  const InstructionNames::Names& names = names_->of[of.pc];
  Writer::Details details;
  details.place = names.place;
  details.arrow_from = flight.arrow;
  writer_.begin(issue.now, slot.track, names.name, shared_.issue, details,
                {{shared_.pc, of.pc},
                 {shared_.ptx_line, names.ptx_line},
                 {shared_.threads, threads},
                 {shared_.executing, executing}});
  ++slot.open_issues;
  slot.issued = issue.now;
  waits_.issued(issue);
  for (std::uint64_t rest = issue.partners; rest != 0; rest &= rest - 1) {
    const std::size_t other = issue.context + static_cast<unsigned>(__builtin_ctzll(rest));
    if (other >= slots_.size() || other == issue.context) continue;
    close_issues(slots_[other]);
    show(slots_[other], kCombined, issue.now);
    slots_[other].issued = issue.now;
  }
  if (!lanes_.empty()) show_lane(issue, names);
}

// A unit that lanes share may leave them free.
void SmTimeline::show_lane(const Issue& issue, const InstructionNames::Names& names) {
  const sm::InFlight& of = issue.flight;
  const unsigned number = sm_.core().datapath->lane_of(of.groups[0].chunk, of.groups[0].mask);
  const Cycle lane_free = sm_.core().datapath->lane_free(number);
  Lane& lane = lanes_[number];
  if (lane_free == lane.until || lane_free <= issue.now) return;
  if (lane.open) writer_.end(std::min(lane.until, issue.now), lane.track);
  lane.open = true;
  lane.until = lane_free;
  Writer::Details details;
  details.place = names.place;
  writer_.begin(issue.now, lane.track, names.name, shared_.lane, details,
                {{shared_.pc, of.pc}, {shared_.slot, issue.context}, {shared_.threads, of.threads()}});
}

void SmTimeline::resolved(std::uint16_t id, warp_formation::Outcomes outcomes, Cycle) {
  waits_.resolved(id, outcomes);
}

void SmTimeline::returned(std::uint16_t id, Cycle now) {
  Flight& flight = flights_[id];
  if (flight.arrow == 0) return;
  Writer::Details details;
  details.arrow_to = flight.arrow;
  writer_.instant(now, slots_[flight.context].track, shared_.returned, shared_.memory, details);
  flight.arrow = 0;
}

void SmTimeline::barrier_opened(std::uint16_t slot, unsigned barrier) {
  waits_.barrier_opened(slot, barrier);
}

void SmTimeline::gathered(std::uint16_t slot, unsigned chunk, std::uint32_t) {
  waits_.gathered(slot, chunk);
}

void SmTimeline::stepped(Cycle now, bool /*issued*/) {
  show_states(now);
}

void SmTimeline::show_states(Cycle now) {
  if (names_ == nullptr) return;
  for (std::size_t s = 0; s < schedulers_.size(); ++s) {
    const Stall stall = sm_.stall(static_cast<unsigned>(s));
    if (stall == stalls_[s]) continue;
    if (stalls_[s] != Stall::kEmpty) writer_.end(now, schedulers_[s]);
    if (stall != Stall::kEmpty) {
      writer_.begin(now, schedulers_[s], shared_.states[static_cast<unsigned>(stall)],
                    stall == Stall::kNone ? shared_.issue : shared_.wait);
    }
    stalls_[s] = stall;
  }
  for (const sm::Domain& domain : sm_.core().domains) {
    Slot* const slots = &slots_[domain.first_context];
    for (unsigned c = 0; c < domain.unit->contexts().size(); ++c) {
      Slot& slot = slots[c];
      if (slot.issued == now && (slot.open_issues != 0 || slot.shown == kCombined)) continue;
      close_issues(slot);
      show(slot, waits_.state(domain, c), now);
    }
  }
  for (Lane& lane : lanes_) {
    if (!lane.open || now < lane.until) continue;
    writer_.end(lane.until, lane.track);
    lane.open = false;
  }
}

}  // namespace weft
