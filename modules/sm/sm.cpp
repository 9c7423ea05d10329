#include "sm/sm.h"

#include <algorithm>
#include <stdexcept>

#include "sm/observers/statistics_observers.h"
#include "weft/common/error.h"

namespace weft::sm {
namespace {

// A block as it would enter the slot. Its domain, if it stays in one, is not chosen yet.
execute::ResidentBlock block_for(const Core& core, std::uint16_t slot) {
  const execute::Kernel& kernel = *core.state.kernel;
  execute::ResidentBlock block;
  block.slot = slot;
  block.first_chunk = static_cast<std::uint16_t>(slot * kernel.chunks_per_block);
  block.threads = block.live_threads = kernel.threads;
  if (core.spreads_blocks) {
    // Warp slots are numbered through, and domains take them in turn.
    block.domain_count = static_cast<std::uint16_t>(core.domains.size());
    block.domain = static_cast<std::uint16_t>(slot * block.warps() % block.domain_count);
  }
  return block;
}

}  // namespace

using warp_formation::Stall;

Sm::Sm(sc_core::sc_module_name name, unsigned index, const machine::SmConfig& config,
       const warp_formation::Config& formation, ClockDomain& clock, SmListener& listener)
    : sc_module(name),
      memory_socket("memory_socket"),
      clock_(clock),
      clock_index_(clock.add(*this)),
      core_(this->name(), index, config, formation, clock.megahertz(), commit_, listener),
      fetch_(config, contexts_of(core_.domains)),
      commit_(core_),
      memory_(core_, memory_socket, {clock, clock_index_}, clock.megahertz(), commit_),
      execute_(core_, memory_, commit_),
      operands_(core_, execute_),
      issue_(core_, fetch_, memory_, operands_),
      own_observers_(statistics_observers(*this)) {
  for (Domain& domain : core_.domains)
    fetch_.report_to(domain.fetching(), domain.changed(), domain.first_context, domain.concerned());
  for (const auto& observer : own_observers_) attach(*observer);
}

Sm::~Sm() = default;

void Sm::reset() {
  core_.reset();
  fetch_.reset();
  memory_.reset();
  commit_.reset();
  core_.observers.tell(&SmObserver::reset);
}

// What start_kernel sets is not among it: datapath, executor, synchroniser, copies, observers.
void Sm::archive(Archive& archive) {
  const bool busy = !drained() || !commit_.idle() || memory_.system_accesses() != 0;
  archive(at_rest(busy), core_.state, core_.account, core_.in_flight, fetch_, memory_);
  for (Domain& domain : core_.domains) domain.unit->archive(archive);
}

void Sm::check_warps(const execute::Kernel& kernel) const {
  const ptx::Program& program = kernel.program;
  for (ptx::Pc pc = 0; pc < program.code.size(); ++pc) {
    if (!program.code[pc].needs_original_warp() || core_.domains[0].unit->keeps_warps()) continue;
    const bool narrow = core_.formation.warp_size % isa::kLanes != 0;
    throw InputError(program.place(pc),
                     std::string(name_of(program.code[pc].op)) +
                         " without .sync acts among the threads of a warp of 32 that execute together; " +
                         (narrow ? "found warps of " + std::to_string(core_.formation.warp_size) +
                                       " threads; allowed: multiples of 32"
                                 : "found scheme '" + core_.formation.scheme +
                                       "', which regroups threads and keeps no warps") +
                         "; the .sync form names its threads and works everywhere");
  }
}

void Sm::start_kernel(const execute::Kernel& kernel, const execute::DeviceMemoryView& memory,
                      std::uint64_t code_offset, std::uint64_t parameter_offset, Cycle now) {
  start_ = {memory, code_offset, parameter_offset};
  execute::DeviceMemoryView reachable = memory;
  if (reachable.image == nullptr) reachable.image = direct_memory(memory.bytes);
  core_.start_kernel(kernel, reachable, now, !clock_.sleeping());
  fetch_.start_kernel(static_cast<std::uint32_t>(kernel.program.code.size()), code_offset,
                      kernel.program.name);
  memory_.start_kernel(memory, reachable.image, carries_data_, parameter_offset,
                       kernel.occupancy.shared_option);
  core_.state.running = true;
  core_.state.stopped = false;
  core_.observers.tell(&SmObserver::kernel_started, SmObserver::KernelStart{kernel, now, core_.chunks()});
}

// The image of device memory, through DMI along the path that the transactions take.
std::uint8_t* Sm::direct_memory(std::uint64_t bytes) {
  tlm::tlm_generic_payload payload;
  payload.set_address(0);
  payload.set_read();
  tlm::tlm_dmi dmi;
  const bool granted = memory_socket->get_direct_mem_ptr(payload, dmi);
  if (!granted || !dmi.is_read_write_allowed() || dmi.get_start_address() != 0 ||
      dmi.get_end_address() + 1 < bytes) {
    throw std::logic_error(std::string(name()) +
                           ": the memory behind the socket grants no DMI to all of its " +
                           std::to_string(bytes) + " bytes");
  }
  return dmi.get_dmi_ptr();
}

void Sm::settle(Cycle end) {
  if (!core_.state.running) return;
  core_.account.bring_to(end);
  core_.observers.tell(&SmObserver::counted, end);
}

void Sm::finish_kernel(Cycle now) {
  if (!core_.state.running) return;
  settle(now + 1);
  core_.state.running = false;
  core_.observers.tell(&SmObserver::kernel_finished, now + 1);
}

void Sm::abandon_kernel() {
  core_.state.stopped = core_.state.abandoned = true;
  abandoned_at_ = clock_.current_edge();
  clock_.wake(clock_index_);
}

// Then the SM goes on as one that has run the kernel's last block.
Cycle Sm::drain(Cycle now) {
  if (now <= abandoned_at_ || !memory_.drain(now)) return now + 1;
  const execute::Kernel& kernel = *core_.state.kernel;
  finish_kernel(now);
  core_.abandon();
  core_.state.now = now;
  fetch_.reset();
  commit_.reset();
  start_kernel(kernel, start_.memory, start_.code_offset, start_.parameter_offset, now + 1);
  core_.listener.sm_drained(core_.index);
  return kNever;
}

bool Sm::can_launch() const {
  if (!core_.state.running || core_.state.stopped) return false;
  const auto used =
      static_cast<std::size_t>(std::count_if(core_.state.blocks.begin(), core_.state.blocks.end(),
                                             [](const execute::ResidentBlock& block) { return block.live; }));
  if (used >= core_.state.kernel->occupancy.resident ||
      !core_.datapath->can_hold(free_slot(), core_.state.kernel->registers)) {
    return false;
  }
  const execute::ResidentBlock block = block_for(core_, free_slot());
  if (core_.spreads_blocks) {
    for (unsigned part = 0; part < block.parts(); ++part) {
      if (!core_.domains[block.domain_of_part(part)].unit->can_launch(block.part(part))) return false;
    }
    return true;
  }
  return std::any_of(core_.domains.begin(), core_.domains.end(),
                     [&](const Domain& domain) { return domain.unit->can_launch(block.part(0)); });
}

std::uint16_t Sm::free_slot() const {
  std::uint16_t slot = 0;
  while (core_.state.blocks[slot].live) ++slot;
  return slot;
}

void Sm::launch_block(const dispatch::Dim3& index) {
  const std::uint16_t slot = free_slot();
  execute::ResidentBlock& resident = core_.state.blocks[slot];
  resident = block_for(core_, slot);
  resident.live = true;
  resident.index = index;
  const warp_formation::Block block{slot, resident.first_chunk, resident.threads};
  // The domain with the fewest live threads; the first of equals.
  std::uint64_t least = UINT64_MAX;
  for (std::size_t d = 0; d < core_.domains.size() && !core_.spreads_blocks; ++d) {
    if (!core_.domains[d].unit->can_launch(block)) continue;
    const std::uint64_t live = core_.domains.size() == 1 ? 0 : core_.domains[d].unit->census().total();
    if (live < least) {
      least = live;
      resident.domain = static_cast<std::uint16_t>(d);
    }
  }
  core_.synchroniser.start_block(resident);
  core_.copies.start_block(resident.first_chunk, core_.state.kernel->chunks_per_block);
  core_.datapath->hold(block, core_.state.kernel->registers);
  core_.executor.start_block(resident);
  for (unsigned part = 0; part < resident.parts(); ++part) {
    const unsigned domain = resident.domain_of_part(part);
    const warp_formation::Block own = resident.part(part);
    core_.domains[domain].changing().launch(own);
    core_.account.resident(domain, own.threads, clock_.current_edge() + 1);
  }
  ++core_.counters.blocks_launched;
  core_.counters.threads_launched += core_.state.kernel->threads;
  core_.state.reported_drained = false;
  clock_.wake(clock_index_);
}

// Every scheduler chooses.
inline Sm::Choices Sm::issue(Cycle now) {
  const bool all = !clock_.sleeping();
  for (Domain& domain : core_.domains) {
    if (all || domain.asks(now)) domain.free_units(now, memory_.can_accept());
  }
  core_.observers.tell(&SmObserver::choosing, now);
  Choices choices;
  for (Domain& domain : core_.domains) {
    domain.unit->advance(now);
    if (!all && !domain.asks(now)) continue;
    const Domain::Schedulers asked = domain.asking(now) | (all ? Domain::kAll : 0);
    Domain::Schedulers unit_busy = 0;
    for (unsigned s = 0; s < core_.config.schedulers_per_domain; ++s) {
      if ((asked >> s & 1) == 0) continue;
      core_.account.bring_to(now, domain.first_scheduler + s);
      const Stall stall = issue_.step(now, domain, s);
      core_.account.set(domain.first_scheduler + s, stall);
      if (core_.state.stopped) return choices;
      choices.issued = choices.issued || stall == Stall::kNone;
      if (stall == Stall::kUnitBusy || stall == Stall::kMemoryBusy) unit_busy |= Domain::Schedulers{1} << s;
    }
    choices.unit_busy = choices.unit_busy || unit_busy != 0;
    domain.asked(now, unit_busy);
    fetch_.follow(domain.unit->contexts(), domain.first_context);
  }
  return choices;
}

inline void Sm::fetch(Cycle now) {
  const std::uint64_t line = fetch_.step(now, memory_.has_room());
  if (line == kNoLine) return;
  memory_.fetch_instructions(line, static_cast<std::uint32_t>(fetch_.line_bytes()));
}

inline void Sm::end_step(Cycle now, bool issued) {
  for (std::size_t d = 0; core_.account.takes_censuses() && d < core_.domains.size(); ++d) {
    if (core_.account.wants_census(d, issued)) core_.account.take_census(d, core_.domains[d].unit->census());
  }
  if (!core_.state.reported_drained && drained()) {
    core_.state.reported_drained = true;
    core_.listener.sm_drained(core_.index);
  }
  core_.observers.tell(&SmObserver::stepped, now, issued);
}

// The stages work from the last to the first, so that an instruction goes through one of them in a cycle.
Cycle Sm::step(Cycle now) {
  Core::State& state = core_.state;
  state.now = now;
  if (state.stopped || !state.running) return state.abandoned ? drain(now) : kNever;
  if (core_.account.takes_censuses()) core_.account.bring_to(now);
  const std::uint64_t line = memory_.receive(now);
  if (line != kNoLine) fetch_.fill(now, line);
  commit_.step(now);
  if (state.stopped) return kNever;
  for (Domain& domain : core_.domains) {
    if (domain.has_changed()) fetch_.follow(domain.unit->contexts(), domain.first_context);
  }
  fetch_.arrive(now);
  memory_.step(now);

  const Choices choices = issue(now);
  if (state.stopped) return kNever;
  if (choices.unit_busy) core_.account.hold(memory_.hold(now));
  fetch(now);
  end_step(now, choices.issued);
  return choices.issued ? now + 1 : next_event(now, choices.unit_busy);
}

Cycle Sm::next_event(Cycle now, bool unit_busy) const {
  Cycle next = std::min({commit_.next_event(now), memory_.next_event(now), fetch_.next_event(now)});
  // Whoever waits for a lane is woken by itself.
  if (unit_busy && !core_.in_turn) next = std::min(next, core_.datapath->next_free(now));
  for (const Domain& domain : core_.domains) next = std::min(next, domain.asks_at());
  return next;
}

bool Sm::drained() const {
  return !core_.state.abandoned && memory_.idle() && core_.in_flight.empty() && !core_.has_block();
}

std::string Sm::dump() const {
  std::string text;
  for (std::size_t d = 0; d < core_.domains.size(); ++d) {
    const std::string lines = core_.domains[d].unit->dump();
    if (!lines.empty())
      text += std::string(name()) + ", scheduler domain " + std::to_string(d) + ":\n" + lines;
  }
  return text + core_.synchroniser.dump();
}

// All threads, in any cycle; `stalled` sums those of cycles without an active lane.
void Sm::bind_thread_states(statistics::Group& group) {
  const auto gauge = [&](const char* name, const char* meaning,
                         std::uint64_t CycleAccount::ThreadStates::* member) {
    group.gauge(name, units::kThreads, meaning,
                [this, member] { return CycleAccount::states_of(core_.census(), core_.barrel).*member; });
  };
  using States = CycleAccount::ThreadStates;
  gauge("in_pipeline", "threads with an instruction under way or waiting for its result",
        &States::in_pipeline);
  gauge("ready", "threads that could run or are queued for commit or compaction", &States::ready);
  gauge("barrier", "threads at a block barrier", &States::barrier);
  gauge("reconvergence", "threads that wait for others of their warp or block", &States::reconvergence);
  gauge("inactive", "threads on a path that does not run, or in a lookup table", &States::inactive);
}

void Sm::bind_scalars(statistics::Group& group) {
  group.counter("instructions", units::kInstructions,
                "instructions that executed once for all threads of their issue",
                core_.counters.scalar_instructions);
  group.counter("thread_instructions", units::kInstructions, "threads of the instructions that executed once",
                core_.counters.scalar_thread_instructions);
  if (core_.scalar_unit) {
    group.counter(
        "issued_beside", units::kInstructions,
        "scalar instructions issued in a cycle in which their scheduler also issued a vector instruction",
        core_.counters.scalar_beside);
  }
  group.ratio(
      "share", units::kRatio, "scalar instructions among the instructions issued",
      {{&core_.counters.scalar_instructions}, {&core_.counters.warp_instructions}, 1, statistics::kNothing});
}

void Sm::bind(statistics::Group& group) {
  group.counter("warp_instructions", units::kInstructions, "instructions issued",
                core_.counters.warp_instructions);
  group.counter("thread_instructions", units::kInstructions, "threads of the instructions issued",
                core_.counters.thread_instructions);
  group.counter("executed_thread_instructions", units::kInstructions,
                "threads of the instructions issued whose guard held",
                core_.counters.executed_thread_instructions);
  group.counter("active_beats", units::kCycles, "SIMD cycles with an active lane",
                core_.counters.active_beats);
  group.counter("active_lanes", units::kLanes,
                "active lanes, summed over the SIMD cycles with an active lane", core_.counters.active_lanes);
  if (core_.issues_at_once > 1) {
    group.counter("issued_beside", units::kInstructions,
                  "instructions issued in a cycle in which their scheduler had issued another",
                  core_.counters.issued_beside);
    group.counter("lanes_shared", units::kInstructions,
                  "of these, instructions on lanes that the other one left free on its unit",
                  core_.counters.lanes_shared);
  }
  group.counter("warp_gatherings", units::kInstructions,
                "warp-level primitives whose threads had to wait for others", core_.counters.warp_gatherings);
  group.counter("spill_instructions", units::kInstructions,
                "warp instructions that load or store registers spilled to local memory",
                core_.counters.spill_instructions);
  group.counter("blocks_launched", units::kBlocks, "thread blocks placed", core_.counters.blocks_launched);
  group.counter("blocks_retired", units::kBlocks, "thread blocks done", core_.counters.blocks_retired);
  group.counter("threads_launched", units::kThreads, "threads started", core_.counters.threads_launched);
  group.counter("threads_retired", units::kThreads, "threads that exited", core_.counters.threads_retired);
  if (core_.config.scalarization.on()) bind_scalars(group.group("scalar"));
  core_.account.bind(group);
  group.gauge("live_threads", units::kThreads, "resident threads that have not exited",
              [this] { return core_.live_threads(); });
  group.gauge("ready_warps", units::kWarps, "warps with a thread that could be offered for issue", [this] {
    std::uint64_t warps = 0;
    for (const Domain& domain : core_.domains) warps += domain.unit->ready_warps();
    return warps;
  });
  if (core_.config.observe.stalled_threads) bind_thread_states(group.group("threads"));
  memory_.bind_queue(group);
  for (const auto& observer : own_observers_) observer->bind(group);
  core_.account.bind_stalled(group);
  core_.datapath->bind(group);
  fetch_.bind(group.group("front_end"));
  memory_.bind(group.group("memory"));
  for (std::size_t d = 0; d < core_.domains.size(); ++d)
    core_.domains[d].unit->bind(group.group("warp_formation", static_cast<unsigned>(d)));
}

}  // namespace weft::sm
