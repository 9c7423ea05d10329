// What the SM tells about itself when asked: instructions, lanes that run warps of their own, spinning
// threads.
#include <algorithm>
#include <sstream>

#include "sm/sm.h"
#include "weft/common/popcount.h"

namespace weft::sm {

// Threads of a branch part where its guard holds for some of them only; those of instructions with a target
// each (calls through registers, returns, indexed branches) where they are resolved.
void Sm::count_instruction(Cycle now, unsigned scheduler, const InFlight& flight,
                           const datapath::Times& times) {
  InstructionCounts& counts = state_.profiled->counts[flight.pc];
  charges_.issued(now, scheduler, account_, counts, state_.profiled->rest());
  std::uint32_t threads = 0, executed = 0;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    threads += count_of(flight.groups[g].mask);
    executed += count_of(flight.executing[g]);
  }
  ++counts.issues;
  counts.threads += threads;
  counts.places += warp_width() != 0 ? warp_width() : times.active_beats * datapath_->lanes();
  counts.executed += executed;
  counts.active_beats += times.active_beats;
  counts.active_lanes += times.active_lanes;
  if (flight.op->instruction->is_branch() && executed != 0 && executed != threads) ++counts.parted;
}

void Sm::show_instruction(const InFlight& flight, bool done) {
  execute::ObservedInstruction shown;
  shown.kernel = state_.kernel;
  shown.pc = flight.pc;
  shown.sm = index_;
  shown.block = &state_.blocks[flight.slot];
  shown.registers = &registers_;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    shown.chunk = flight.groups[g].chunk;
    shown.mask = flight.groups[g].mask;
    shown.executing = flight.executing[g];
    if (done) {
      observer_->instruction_done(shown);
    } else {
      observer_->instruction_starts(shown);
    }
  }
}

// Shows a fence, or an instruction that closes or awaits groups of asynchronous copies.
void Sm::show_order(const InFlight& flight) const {
  for (unsigned g = 0; g < flight.group_count; ++g) {
    if (flight.executing[g] == 0) continue;
    observer_->ordered({state_.kernel, flight.pc, index_, &state_.blocks[flight.slot], flight.groups[g].chunk,
                        flight.executing[g]});
  }
}

// Before the front end issues in this cycle.
void Sm::survey_lanes(Cycle now) {
  using Next = warp_formation::WarpFormation::Next;
  const unsigned lanes = datapath_->lane_count();
  lane_account_.begin_survey(now, has_block());
  for (unsigned lane = 0; lane < lanes; ++lane) lane_account_.warps(lane, datapath_->warps_of(lane));
  // The lane on which a warp could begin an instruction and no other warp that was looked at can. What takes
  // no lane is of the lane that the warp is on, and only the register of its own unit has to be free.
  const auto lane_for = [&](unsigned own, const datapath::Demand& demand) {
    if (!datapath_->takes_lane(demand)) return lane_account_.has_ready(own) ? lanes : own;
    const auto free = [&](unsigned lane) {
      return datapath_->lane_free(lane) <= now && !lane_account_.has_ready(lane);
    };
    if (datapath_->binds_warps()) return free(own) ? own : lanes;
    unsigned lane = 0;
    while (lane < lanes && !free(lane)) ++lane;
    return lane;
  };
  for (const Domain& domain : domains_) {
    const unsigned contexts = domain.unit->contexts().size();
    for (unsigned context = 0; context < contexts; ++context) {
      warp_formation::Issue issue;
      const Next next = domain.unit->next(context, issue);
      if (next == Next::kNone || issue.groups.count == 0) continue;
      const warp_formation::ThreadGroup& first = *issue.groups.begin();
      const unsigned own = datapath_->lane_of(first.chunk, first.mask);
      const execute::Operation& op = state_.kernel->operations[issue.pc];
      if (lane_account_.waits(op, issue)) {
        lane_account_.stalled(own);
      } else if (next == Next::kOffered && !domain.has_set_aside(context)) {
        const unsigned lane = lane_for(own, op);
        if (lane < lanes && ready<false>(domain, 0, issue) == Stall::kNone) lane_account_.ready(lane);
      }
    }
  }
}

void Sm::lane_issued(const InFlight& flight, unsigned context) {
  const unsigned lane = datapath_->lane_of(flight.groups[0].chunk, flight.groups[0].mask);
  if (!lane_traces_.empty()) {
    // A unit that lanes share may leave them free.
    const Cycle until = datapath_->lane_free(lane);
    if (until != lane_traces_[lane].until) lane_traces_[lane] = {until, flight.pc, context};
  }
  if (!lane_account_.enabled()) return;
  int threads = 0, executing = 0;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    threads += __builtin_popcount(flight.groups[g].mask);
    executing += __builtin_popcount(flight.executing[g]);
  }
  lane_account_.issued(lane, static_cast<unsigned>(threads), static_cast<unsigned>(executing));
}

// For the observer of issues.
void Sm::show_resolved(std::uint16_t id, warp_formation::Outcomes outcomes) {
  watcher_->resolved(id, outcomes, state_.now);
}

void Sm::show_issue(Cycle now, std::uint16_t id, const warp_formation::Issue& issue, unsigned scheduler) {
  const InFlight& flight = in_flight_[id];
  SmObserver::Issue shown;
  shown.now = now;
  shown.id = id;
  shown.slot = flight.slot;
  shown.scheduler = scheduler;
  shown.context = domains_[flight.domain].first_context + issue.context;
  shown.partners = issue.partners;
  shown.pc = flight.pc;
  shown.instruction = flight.op->instruction;
  shown.first_chunk = shown.last_chunk = flight.groups[0].chunk;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    shown.first_chunk = std::min(shown.first_chunk, flight.groups[g].chunk);
    shown.last_chunk = std::max(shown.last_chunk, flight.groups[g].chunk);
    shown.threads += count_of(flight.groups[g].mask);
    shown.executing += count_of(flight.executing[g]);
  }
  if (datapath_->lane_count() != 0) {
    shown.lane = datapath_->lane_of(flight.groups[0].chunk, flight.groups[0].mask);
    shown.lane_free = datapath_->lane_free(shown.lane);
  }
  watcher_->issued(shown);
}

void Sm::trace(bool on) {
  traces_ = kTracing && on;
  issue_traces_.assign(traces_ ? config_.schedulers : 0, IssueTrace());
  lane_traces_.assign(traces_ ? datapath_->lane_count() : 0, LaneTrace());
}

void Sm::observe_spinning(bool on) {
  if (!on || !state_.running) return spin_.stop();
  spin_.start(state_.kernel->occupancy.resident * state_.kernel->chunks_per_block);
}

Sm::Spinning Sm::spinning() const {
  Spinning result;
  result.threads = spin_.verdict();
  in_flight_.each([&](const InFlight& flight) {
    for (unsigned g = 0; g < flight.group_count; ++g)
      result.busy = result.busy || spin_.silent(flight.groups[g]);
  });
  if (result.threads.spinning == 0) return result;
  std::ostringstream text;
  for (const auto& block : state_.blocks) {
    const unsigned first = block.first_chunk * execute::RegisterFile::kLanes;
    if (!block.live || result.threads.position < first || result.threads.position >= first + block.threads)
      continue;
    text << "thread " << result.threads.position - first << " of block (" << block.index[0] << ","
         << block.index[1] << "," << block.index[2] << ") at pc " << result.threads.pc << " ("
         << state_.kernel->program.place(result.threads.pc) << ")";
  }
  result.example = text.str();
  return result;
}

}  // namespace weft::sm
