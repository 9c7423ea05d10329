#include "sm/sm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "sm/datapath_of.h"
#include "sm/observers/statistics_observers.h"
#include "sm/sm_arrays.h"
#include "weft/warp_formation/scheme.h"

namespace weft::sm {

using warp_formation::Stall;

Sm::Sm(sc_core::sc_module_name name, unsigned index, const Config& config,
       const warp_formation::Config& formation, ClockDomain& clock, SmListener& listener)
    : sc_module(name),
      memory_socket("memory_socket"),
      index_(index),
      config_(config),
      formation_(formation),
      clock_(clock),
      listener_(listener),
      clock_index_(clock.add(*this)),
      barrel_(config.dependence == Dependence::kBarrel),
      executor_(config, index, clock.megahertz(), registers_),
      datapath_(datapath_of(config)),
      in_turn_(datapath_->in_turn()),
      forwards_(datapath_->forwards() && !barrel_),
      scalar_unit_(datapath_->has_scalar_unit()),
      domains_(domains_of(config, formation, datapath_->lanes())),
      front_end_(config, contexts_of(domains_)),
      memory_(config, *this, observers_, datapath_->lane_count(), lane_width()),
      account_(config.schedulers, config.schedulers_per_domain, config.observe.stalled_threads, barrel_),
      state_(config.max_blocks),
      synchroniser_(this->name(), index, executor_, state_.blocks, *this),
      in_flight_(kMaxIssues),
      memory_port_(memory_socket, config.response_queue, {clock, clock_index_}, *this),
      system_(executor_, config.coalescer.block_bytes),
      own_observers_(statistics_observers(config, *this)) {
  for (const auto& observer : own_observers_) attach(*observer);
  if (config.issue_alignment) datapath_->align(std::max(1u, warp_width() / datapath_->lanes()));
  for (Domain& domain : domains_) {
    domain.sm = this;
    front_end_.report_to(domain.fetching(), domain.first_context, domain.unit->contexts().size());
  }
  system_.on_closed = [this](unsigned domain, unsigned chunk) { domains_[domain].written(chunk); };
  system_.on_acquired = [this] { memory_.drop_system_lines(); };
  reset();
}

Sm::~Sm() = default;

// The scheduler domains with their units. How many contexts the front end needs, the units know.
std::vector<Sm::Domain> Sm::domains_of(const Config& config, const warp_formation::Config& formation,
                                       unsigned lanes) {
  std::vector<Domain> domains(config.schedulers / config.schedulers_per_domain);
  warp_formation::Geometry geometry = geometry_of(config, formation, lanes);
  geometry.max_issues = kMaxIssues;
  unsigned first_context = 0;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    Domain& domain = domains[d];
    domain.first_scheduler = static_cast<unsigned>(d * config.schedulers_per_domain);
    domain.first_context = first_context;
    domain.unit = warp_formation::create(formation, geometry);
    first_context += domain.unit->contexts().size();
  }
  return domains;
}

unsigned Sm::contexts_of(const std::vector<Domain>& domains) {
  return domains.back().first_context + domains.back().unit->contexts().size();
}

void Sm::reset() {
  for (auto& domain : domains_) domain.unit->reset();
  account_.reset();
  datapath_->reset(0);
  front_end_.reset();
  memory_.reset();
  wheel_.clear();
  memory_port_.reset();
  state_ = State(config_.max_blocks);
  executor_.reset();
  synchroniser_.reset();
  copies_.reset();
  in_flight_.reset();
  system_.reset();
  counters_ = {};
  observers_.tell(&SmObserver::reset);
}

// What start_kernel sets is not among it: datapath, executor, synchroniser, copies, oracle, lanes.
void Sm::archive(Archive& archive) {
  const bool busy = !drained() || !wheel_.empty() || system_.opened() != 0;
  archive(at_rest(busy), state_, account_, in_flight_, front_end_, memory_, memory_port_);
  for (Domain& domain : domains_) domain.unit->archive(archive);
}

void Sm::start_kernel(const execute::Kernel& kernel, const execute::DeviceMemoryView& memory,
                      std::uint64_t code_offset, std::uint64_t parameter_offset, Cycle now) {
  state_.kernel = &kernel;
  execute::DeviceMemoryView reachable = memory;
  if (reachable.image == nullptr) reachable.image = direct_memory(memory.bytes);
  state_.image = reachable.image;
  memory_.carry(carries_data_ ? reachable.image : nullptr);
  executor_.start_kernel(kernel, reachable);
  front_end_.start_kernel(static_cast<std::uint32_t>(kernel.program.code.size()), code_offset,
                          kernel.program.name);
  synchroniser_.start_kernel(kernel);
  const unsigned chunks = kernel.occupancy.resident * kernel.chunks_per_block;
  system_.start_kernel(memory.system, chunks, static_cast<unsigned>(config_.max_blocks));
  copies_.start_kernel(kernel.copies, chunks, kMaxIssues);
  for (auto& domain : domains_) {
    domain.unit->attach(kernel.program, domain);
    domain.forget_waiters(chunks);
  }
  memory_.start_kernel(parameter_offset);
  datapath_->reset(now);
  account_.start(now);
  state_.running = true;
  state_.stopped = false;
  observers_.tell(&SmObserver::kernel_started, SmObserver::KernelStart{kernel, now, chunks});
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

void Sm::finish_kernel(Cycle now) {
  if (!state_.running) return;
  settle(now + 1);
  state_.running = false;
  observers_.tell(&SmObserver::kernel_finished, now + 1);
}

bool Sm::can_launch() const {
  if (!state_.running || state_.stopped) return false;
  const auto used =
      static_cast<std::size_t>(std::count_if(state_.blocks.begin(), state_.blocks.end(),
                                             [](const execute::ResidentBlock& block) { return block.live; }));
  if (used >= state_.kernel->occupancy.resident ||
      !datapath_->can_hold(free_slot(), state_.kernel->registers)) {
    return false;
  }
  warp_formation::Block block;
  block.threads = state_.kernel->threads;
  return std::any_of(domains_.begin(), domains_.end(),
                     [&](const Domain& domain) { return domain.unit->can_launch(block); });
}

std::uint16_t Sm::free_slot() const {
  std::uint16_t slot = 0;
  while (state_.blocks[slot].live) ++slot;
  return slot;
}

void Sm::launch_block(const dispatch::Dim3& index) {
  const std::uint16_t slot = free_slot();
  execute::ResidentBlock& resident = state_.blocks[slot];
  resident.live = true;
  resident.slot = slot;
  resident.first_chunk = static_cast<std::uint16_t>(slot * state_.kernel->chunks_per_block);
  resident.threads = resident.live_threads = state_.kernel->threads;
  resident.index = index;
  warp_formation::Block block{slot, resident.first_chunk, state_.kernel->threads};
  // The domain with the fewest live threads; the first of equals.
  std::uint64_t least = UINT64_MAX;
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    if (!domains_[d].unit->can_launch(block)) continue;
    const std::uint64_t live = domains_.size() == 1 ? 0 : domains_[d].unit->census().total();
    if (live < least) {
      least = live;
      resident.domain = static_cast<std::uint16_t>(d);
    }
  }
  synchroniser_.start_block(resident);
  copies_.start_block(resident.first_chunk, state_.kernel->chunks_per_block);
  datapath_->hold(block, state_.kernel->registers);
  executor_.start_block(resident);
  domains_[resident.domain].unit->launch(block);
  account_.resident(resident.domain, block.threads, clock_.current_edge() + 1);
  ++counters_.blocks_launched;
  counters_.threads_launched += state_.kernel->threads;
  state_.reported_drained = false;
  clock_.wake(clock_index_);
}

Cycle Sm::step(Cycle now) {
  state_.now = now;
  if (state_.stopped || !state_.running) return kNever;
  account_.bring_to(now);
  take_responses(now);
  memory_.events(now);
  wheel_.take(now, [&](const Event& event) { handle(now, event); });
  if (!synchroniser_.gatherings().empty()) {  // a thread may come to its end in many ways
    const Fault wrong = synchroniser_.release_gatherings();
    if (wrong && !state_.stopped) fault(wrong);
  }
  if (state_.stopped) return kNever;
  for (auto& domain : domains_) front_end_.follow(domain.unit->contexts(), domain.first_context);
  front_end_.arrive(now);
  memory_.step(now);
  if (memory_.has_to_flush()) memory_.flush(!has_block());
  send_request(now);

  for (auto& domain : domains_) domain.free_units(now, memory_.can_accept());
  bool issued = false, unit_busy = false;
  observers_.tell(&SmObserver::choosing, now);
  for (auto& domain : domains_) {
    domain.unit->advance(now);
    for (unsigned s = 0; s < config_.schedulers_per_domain; ++s) {
      const Stall stall = issue(now, domain, s);
      account_.set(domain.first_scheduler + s, stall);
      if (state_.stopped) return kNever;
      issued = issued || stall == Stall::kNone;
      unit_busy = unit_busy || stall == Stall::kUnitBusy || stall == Stall::kMemoryBusy;
    }
    front_end_.follow(domain.unit->contexts(), domain.first_context);
  }
  if (unit_busy) account_.hold(static_cast<unsigned>(memory_.hold(now)));
  const std::uint64_t line = front_end_.step(now, !memory_.outgoing().full());
  if (line != FrontEnd::kNoLine)
    memory_.fetch_instructions(line, static_cast<std::uint32_t>(front_end_.line_bytes()));

  for (std::size_t d = 0; d < domains_.size(); ++d) {
    if (account_.wants_census(d, issued)) account_.take_census(d, domains_[d].unit->census());
  }
  if (!state_.reported_drained && drained()) {
    state_.reported_drained = true;
    listener_.sm_drained(index_);
  }
  observers_.tell(&SmObserver::stepped, now, issued);
  return issued ? now + 1 : next_event(now, unit_busy);
}

Cycle Sm::next_event(Cycle now, bool unit_busy) const {
  Cycle next = std::min(wheel_.next(now), memory_.next_event(now));
  next = std::min(next, front_end_.next_event(now));
  // Whoever waits for a lane is woken by itself.
  if (unit_busy && !in_turn_) next = std::min(next, datapath_->next_free(now));
  for (const auto& domain : domains_)
    next = std::min({next, domain.unit->next_event(now), domain.next_waking()});
  const bool sendable = !memory_port_.busy() && !const_cast<LoadStoreUnit&>(memory_).outgoing().empty();
  if (sendable || memory_port_.waiting()) next = now + 1;
  return next;
}

template <bool kSetsAside>
Stall Sm::ready(const Domain& domain, unsigned scheduler, const warp_formation::Issue& issue) const {
  if (!front_end_.holds(domain.first_context + issue.context, issue.pc)) return Stall::kFetch;
  const execute::Operation& op = state_.kernel->operations[issue.pc];
  if (slots_.limited && !slots_.allow(op.instruction->scalar, issue.context)) return Stall::kUnitBusy;
  if (!barrel_) {
    for (const auto& group : issue.groups) {
      if (registers_.pending(group.chunk, group.mask, op.keys.data(), op.key_count)) {
        const bool loads = registers_.pending_load(group.chunk, group.mask, op.keys.data(), op.key_count);
        const Stall stall = loads ? Stall::kMemory : Stall::kDependence;
        if constexpr (kSetsAside) domain.wait(issue.context, group.chunk, stall);
        return stall;
      }
    }
  }
  if (system_.busy() && (op.instruction->unit == ptx::Unit::kMemory || op.instruction->releases)) {
    for (const auto& group : issue.groups) {
      if (!system_.holds(group.chunk, group.mask, op.instruction->releases)) continue;
      if constexpr (kSetsAside) domain.wait(issue.context, group.chunk, Stall::kMemory);
      return Stall::kMemory;
    }
  }
  if (forwards_) {
    const Cycle there = operands(op, issue);
    if (there > state_.now) {
      if constexpr (kSetsAside) domain.wait_until(issue.context, Stall::kDependence, state_.now, there);
      return Stall::kDependence;
    }
  }
  const ptx::Unit unit = op.unit;
  Cycle start = datapath_->earliest(state_.now, domain.first_scheduler + scheduler, op, issue);
  if (in_turn_ && start > state_.now) {
    if constexpr (kSetsAside) domain.wait_until(issue.context, Stall::kUnitBusy, state_.now, start);
    return Stall::kUnitBusy;
  }
  if (unit == ptx::Unit::kMemory && !memory_.can_accept()) start = std::max(start, state_.now + 1);
  if (start > state_.now) {
    if (datapath_->port_taken(state_.now, domain.first_scheduler + scheduler)) return Stall::kUnitBusy;
    if constexpr (kSetsAside) domain.wait_for_unit(issue.context, unit, start);
    return unit == ptx::Unit::kMemory ? Stall::kMemoryBusy : Stall::kUnitBusy;
  }
  return in_flight_.full() ? Stall::kUnitBusy : Stall::kNone;
}
template Stall Sm::ready<true>(const Domain&, unsigned, const warp_formation::Issue&) const;
template Stall Sm::ready<false>(const Domain&, unsigned, const warp_formation::Issue&) const;

// When what the datapath forwards is there for the issue.
Cycle Sm::operands(const execute::Operation& op, const warp_formation::Issue& issue) const {
  std::array<std::uint32_t, warp_formation::kMaxGroups> executing;
  for (unsigned g = 0; g < issue.groups.count; ++g)
    executing[g] = executor_.guarded(*op.instruction, issue.groups.data[g]);
  return datapath_->operands(state_.now, op, issue, executing.data());
}

// An instruction that orders accesses to system memory, or lets threads synchronise.
void Sm::order(const InFlight& flight) {
  const ptx::Instruction& in = *flight.op->instruction;
  system_.synchronised(flight.slot);
  if (in.acquires && in.system_scope) memory_.drop_system_lines();
}

// One response per cycle enters the load-store unit; only those that came before this edge.
void Sm::take_responses(Cycle now) {
  if (!memory_port_.answered(now)) return;
  const MemoryPort::Answer& answer = memory_port_.answer();
  if (LoadStoreUnit::is_instruction_fill(answer.tag)) front_end_.fill(now, answer.address);
  memory_.respond(now, answer.tag, answer.address);
  if (memory_.wants_stages()) memory_.came_back(now, stages_of(answer));
  memory_port_.take_answer(now);
}

// In core cycles.
Stages Sm::stages_of(const MemoryPort::Answer& answer) const {
  const double cycles_per_ps = clock_.megahertz() * 1e-6;
  const auto cycle = [&](std::uint64_t ps) {
    return static_cast<Cycle>(std::llround(static_cast<double>(ps) * cycles_per_ps));
  };
  const TransactionStages& s = answer.stages;
  const bool fetched = s.fetched_ps != 0;
  return {cycle(answer.issued_ps), cycle(s.delivered_ps), cycle(fetched ? s.fetched_ps : s.answered_ps),
          cycle(fetched ? s.filled_ps : s.answered_ps), cycle(s.answered_ps)};
}

// A transaction to device memory with its own data array, which has a write's bytes.
tlm::tlm_generic_payload& Sm::carrying(const OutgoingRequest& request) {
  tlm::tlm_generic_payload& payload = memory_port_.acquire(request.command, request.address, request.bytes);
  origin_of(payload)->carries = true;
  if (request.carried != OutgoingRequest::kNothing) {
    std::memcpy(payload.get_data_ptr(), memory_.carried(request), request.bytes);
    memory_.drop_carried(request);
  }
  return payload;
}

void Sm::send_request(Cycle now) {
  auto& outgoing = memory_.outgoing();
  if (outgoing.empty() || !memory_port_.usable(now)) return;
  const OutgoingRequest request = outgoing.front();
  outgoing.pop();
  memory_.sent();
  tlm::tlm_generic_payload& payload =
      request.access != OutgoingRequest::kDeviceMemory ? system_.payload(request, memory_port_)
      : carries_data_                                  ? carrying(request)
                      : memory_port_.acquire(request.command, request.address, state_.image + request.address,
                                             request.bytes);
  TransactionOrigin& origin = *origin_of(payload);
  origin.kind = request.kind;
  origin.sm = static_cast<std::uint16_t>(index_);
  origin.atomic_lanes = request.atomic_lanes;
  origin.tag = request.tag;
  origin.issued_ps = sc_core::sc_time_stamp().value();
  memory_port_.send(payload);
}

// An error answer is a fault of the simulated program: it named an address that the memory system does not
// have.
bool Sm::memory_answered(const tlm::tlm_generic_payload& payload) {
  Fault wrong;
  const TransactionOrigin& origin = *origin_of(payload);
  if (origin.system) {
    const bool is_line = !payload.is_response_error() && payload.is_read() &&
                         memory_.take_line(origin.tag, payload.get_data_ptr());
    if (!is_line) wrong = system_.answered(payload);
  } else if (payload.is_response_error()) {
    wrong = {FaultKind::kIllegalAddress, "the memory system answered " + payload.get_response_string() +
                                             " at device-memory offset " +
                                             std::to_string(payload.get_address())};
  }
  if (wrong && !state_.stopped) fault(wrong);
  return !wrong;
}

bool Sm::drained() const {
  return memory_.idle() && memory_port_.idle() && in_flight_.empty() && !has_block();
}

bool Sm::has_block() const {
  return std::any_of(state_.blocks.begin(), state_.blocks.end(),
                     [](const execute::ResidentBlock& block) { return block.live; });
}

std::string Sm::dump() const {
  std::string text;
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    const std::string lines = domains_[d].unit->dump();
    if (!lines.empty())
      text += std::string(name()) + ", scheduler domain " + std::to_string(d) + ":\n" + lines;
  }
  return text + synchroniser_.dump();
}

std::uint64_t Sm::live_threads() const {
  std::uint64_t threads = 0;
  for (const auto& block : state_.blocks) threads += block.live ? block.live_threads : 0;
  return threads;
}

warp_formation::Census Sm::census() const {
  warp_formation::Census sum;
  for (const auto& domain : domains_) sum += domain.unit->census();
  return sum;
}

// All threads, in any cycle; `stalled` sums those of cycles without an active lane.
void Sm::bind_thread_states(statistics::Group& group) {
  const auto gauge = [&](const char* name, const char* meaning,
                         std::uint64_t CycleAccount::ThreadStates::* member) {
    group.gauge(name, units::kThreads, meaning,
                [this, member] { return CycleAccount::states_of(census(), barrel_).*member; });
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
                counters_.scalar_instructions);
  group.counter("thread_instructions", units::kInstructions, "threads of the instructions that executed once",
                counters_.scalar_thread_instructions);
  if (scalar_unit_) {
    group.counter(
        "issued_beside", units::kInstructions,
        "scalar instructions issued in a cycle in which their scheduler also issued a vector instruction",
        counters_.scalar_beside);
  }
  group.ratio("share", units::kRatio, "scalar instructions among the instructions issued",
              {{&counters_.scalar_instructions}, {&counters_.warp_instructions}, 1, statistics::kNothing});
}

void Sm::bind(statistics::Group& group) {
  group.counter("warp_instructions", units::kInstructions, "instructions issued",
                counters_.warp_instructions);
  group.counter("thread_instructions", units::kInstructions, "threads of the instructions issued",
                counters_.thread_instructions);
  group.counter("executed_thread_instructions", units::kInstructions,
                "threads of the instructions issued whose guard held",
                counters_.executed_thread_instructions);
  group.counter("active_beats", units::kCycles, "SIMD cycles with an active lane", counters_.active_beats);
  group.counter("active_lanes", units::kLanes,
                "active lanes, summed over the SIMD cycles with an active lane", counters_.active_lanes);
  group.counter("warp_gatherings", units::kInstructions,
                "warp-level primitives whose threads had to wait for others", counters_.warp_gatherings);
  group.counter("spill_instructions", units::kInstructions,
                "warp instructions that load or store registers spilled to local memory",
                counters_.spill_instructions);
  group.counter("blocks_launched", units::kBlocks, "thread blocks placed", counters_.blocks_launched);
  group.counter("blocks_retired", units::kBlocks, "thread blocks done", counters_.blocks_retired);
  group.counter("threads_launched", units::kThreads, "threads started", counters_.threads_launched);
  group.counter("threads_retired", units::kThreads, "threads that exited", counters_.threads_retired);
  if (config_.scalarization.on()) bind_scalars(group.group("scalar"));
  account_.bind(group);
  group.gauge("live_threads", units::kThreads, "resident threads that have not exited",
              [this] { return live_threads(); });
  group.gauge("ready_warps", units::kWarps, "warps with a thread that could be offered for issue", [this] {
    std::uint64_t warps = 0;
    for (const Domain& domain : domains_) warps += domain.unit->ready_warps();
    return warps;
  });
  if (config_.observe.stalled_threads) bind_thread_states(group.group("threads"));
  group.gauge("response_queue", units::kRequests, "responses that wait for the load-store unit",
              [this] { return memory_port_.queued(); });
  for (const auto& observer : own_observers_) observer->bind(group);
  account_.bind_stalled(group);
  datapath_->bind(group);
  front_end_.bind(group.group("front_end"));
  memory_.bind(group.group("memory"));
  for (std::size_t d = 0; d < domains_.size(); ++d)
    domains_[d].unit->bind(group.group("warp_formation", static_cast<unsigned>(d)));
}

}  // namespace weft::sm
