#include "sm/sm.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

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
      units_(config),
      domains_(domains_of(config, formation)),
      front_end_(config, contexts_of(domains_)),
      memory_(config, *this),
      schedulers_(config.schedulers),
      slots_(config.max_blocks),
      slot_references_(config.max_blocks, 0),
      barriers_(config.max_blocks),
      in_flight_(kMaxIssues),
      responses_(config.response_queue),
      oracle_(config.observe.lane_oracle, static_cast<unsigned>(config.simd_width)) {
  memory_socket.register_nb_transport_bw(this, &Sm::transport_bw);
  for (Domain& domain : domains_) {
    domain.sm = this;
    front_end_.report_to(domain.fetching(), domain.first_context, domain.unit->contexts().size());
  }
  free_ids_.reserve(kMaxIssues);
  // Threads of one issue, at most each on its own.
  scratch_groups_.reserve(std::size_t{warp_formation::kMaxGroups} * isa::kLanes);
  scratch_outcomes_.reserve(scratch_groups_.capacity());
  target_groups_.reserve(std::size_t{2} * warp_formation::kMaxGroups * isa::kLanes);
  target_outcomes_.reserve(std::size_t{warp_formation::kMaxGroups} * isa::kLanes + 1);
  reset();
}

Sm::~Sm() = default;

// The scheduler domains with their units. How many contexts the front end needs, the units know.
std::vector<Sm::Domain> Sm::domains_of(const Config& config, const warp_formation::Config& formation) {
  std::vector<Domain> domains(config.schedulers / config.schedulers_per_domain);
  warp_formation::Geometry geometry;
  geometry.threads = static_cast<std::uint32_t>(
      std::min(config.max_threads, config.max_warps * formation.warp_size) / domains.size());
  geometry.simd_width = static_cast<std::uint32_t>(config.simd_width);
  geometry.schedulers = static_cast<std::uint32_t>(config.schedulers_per_domain);
  geometry.max_issues = kMaxIssues;
  geometry.slots = static_cast<std::uint32_t>(config.max_blocks);
  geometry.barrel = config.dependence == Dependence::kBarrel;
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
  for (auto& scheduler : schedulers_) scheduler = Scheduler();
  units_.reset();
  front_end_.reset();
  memory_.reset();
  wheel_.clear();
  responses_.clear();
  std::fill(slots_.begin(), slots_.end(), ResidentBlock());
  std::fill(slot_references_.begin(), slot_references_.end(), 0u);
  barriers_.assign(slots_.size(), {});
  gatherings_.clear();
  copy_waiters_.clear();
  free_ids_.clear();
  for (unsigned id = kMaxIssues; id-- > 0;) free_ids_.push_back(static_cast<std::uint16_t>(id));
  pool_ = std::make_unique<TransactionPool>();  // what was under way is dropped everywhere
  system_.clear();
  free_system_.clear();
  system_accesses_ = 0;
  counters_ = {};
  stalled_ = {};
  spin_.stop();
  idle_ = false;
  barriers_opened_ = 0;
  // A launch that was stopped leaves records of what was in flight.
  std::fill(in_flight_.begin(), in_flight_.end(), InFlight());
  kernel_ = nullptr;
  running_ = stopped_ = false;
  reported_drained_ = true;
  open_request_ = nullptr;
  open_response_ = nullptr;
  channel_free_since_ = 0;
}

void Sm::start_kernel(const Kernel& kernel, const DeviceMemoryView& memory, std::uint64_t code_offset,
                      std::uint64_t parameter_offset, Cycle now) {
  kernel_ = &kernel;
  DeviceMemoryView reachable = memory;
  if (reachable.image == nullptr) reachable.image = direct_memory(memory.bytes);
  image_ = reachable.image;
  system_memory_ = memory.system;
  executor_.start_kernel(kernel, reachable);
  front_end_.start_kernel(static_cast<std::uint32_t>(kernel.program.code.size()), code_offset);
  const unsigned chunks = kernel.occupancy.blocks * kernel.chunks_per_block;
  live_.assign(chunks, 0);
  copies_.configure(kernel.copies, chunks, kMaxIssues);
  bool probes = false;
  for (auto& domain : domains_) {
    domain.unit->attach(kernel.program, domain);
    domain.forget_waiters(chunks);
    probes = probes || domain.unit->wants_memory_probes();
  }
  memory_.start_kernel(parameter_offset, probes);
  units_.reset();
  instruction_counts_ = profile_ == nullptr ? nullptr : profile_->of(kernel.program);
  oracle_.start_kernel(kernel.program.code.size(), static_cast<unsigned>(config_.max_blocks));
  spin_.stop();
  idle_ = config_.observe.stalled_threads;
  idle_census_ = {};
  for (auto& scheduler : schedulers_) scheduler.last = Stall::kEmpty;
  accounted_ = now;
  running_ = true;
  stopped_ = false;
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
  if (!running_) return;
  account(now + 1);
  running_ = false;
}

bool Sm::can_launch() const {
  if (!running_ || stopped_) return false;
  const auto used = static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const ResidentBlock& block) { return block.live; }));
  if (used >= kernel_->occupancy.blocks) return false;
  warp_formation::Block block;
  block.threads = kernel_->threads;
  return std::any_of(domains_.begin(), domains_.end(),
                     [&](const Domain& domain) { return domain.unit->can_launch(block); });
}

void Sm::launch_block(const dispatch::Dim3& index) {
  std::uint16_t slot = 0;
  while (slots_[slot].live) ++slot;
  ResidentBlock& resident = slots_[slot];
  resident.live = true;
  resident.slot = slot;
  resident.first_chunk = static_cast<std::uint16_t>(slot * kernel_->chunks_per_block);
  resident.threads = resident.live_threads = kernel_->threads;
  resident.index = index;
  warp_formation::Block block{slot, resident.first_chunk, kernel_->threads};
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
  prepare_synchronisation(resident);
  executor_.start_block(resident);
  domains_[resident.domain].unit->launch(block);
  ++counters_.blocks_launched;
  counters_.threads_launched += kernel_->threads;
  reported_drained_ = false;
  clock_.wake(clock_index_);
}

// Cycles since the last step were spent as that step ended: nothing came in between that could change it.
void Sm::account(Cycle now) {
  if (!running_ || now <= accounted_) return;
  for (auto& scheduler : schedulers_)
    scheduler.buckets[static_cast<unsigned>(scheduler.last)] += now - accounted_;
  if (idle_) count_stalled(now - accounted_);
  accounted_ = now;
}

Cycle Sm::step(Cycle now) {
  now_ = now;
  if (stopped_ || !running_) return kNever;
  account(now);
  take_responses(now);
  memory_.events(now);
  wheel_.take(now, [&](const Event& event) { handle(now, event); });
  if (!gatherings_.empty()) release_gatherings();
  if (stopped_) return kNever;
  for (auto& domain : domains_) front_end_.follow(domain.unit->contexts(), domain.first_context);
  front_end_.arrive(now);
  memory_.step(now);
  send_request(now);

  for (const ptx::Unit unit : {ptx::Unit::kSfu, ptx::Unit::kMemory}) {
    if (!unit_available(0, unit)) continue;
    for (auto& domain : domains_) domain.unit_free(unit);
  }
  bool issued = false, unit_busy = false;
  if (kTracing && trace_ != nullptr) {
    *trace_ = SmTrace();
    trace_->cycle = now;
  }
  for (auto& domain : domains_) {
    domain.unit->advance(now);
    for (unsigned s = 0; s < config_.schedulers_per_domain; ++s) {
      Scheduler& scheduler = schedulers_[domain.first_scheduler + s];
      scheduler.last = issue(now, domain, s);
      if (stopped_) return kNever;
      issued = issued || scheduler.last == Stall::kNone;
      unit_busy = unit_busy || scheduler.last == Stall::kUnitBusy || scheduler.last == Stall::kMemoryBusy;
    }
    front_end_.follow(domain.unit->contexts(), domain.first_context);
  }
  if (kTracing && trace_ != nullptr) {
    trace_->stall = schedulers_[0].last;
    for (const auto& domain : domains_) trace_->ready_warps += domain.unit->ready_warps();
  }
  const std::uint64_t line = front_end_.step(now, !memory_.outgoing().full());
  if (line != FrontEnd::kNoLine)
    memory_.fetch_instructions(line, static_cast<std::uint32_t>(front_end_.line_bytes()));

  if (config_.observe.stalled_threads) {
    idle_ = !issued;
    if (idle_) idle_census_ = census();
  }
  account(now + 1);
  if (!reported_drained_ && drained()) {
    reported_drained_ = true;
    listener_.sm_drained(index_);
  }
  return issued ? now + 1 : next_event(now, unit_busy);
}

Cycle Sm::next_event(Cycle now, bool unit_busy) const {
  Cycle next = std::min(wheel_.next(now), memory_.next_event(now));
  next = std::min(next, front_end_.next_event(now));
  if (unit_busy) next = std::min(next, units_.next_free(now));
  for (const auto& domain : domains_) next = std::min(next, domain.unit->next_event(now));
  const bool sendable = open_request_ == nullptr && !const_cast<LoadStoreUnit&>(memory_).outgoing().empty();
  if (sendable || !responses_.empty()) next = now + 1;
  return next;
}

Stall Sm::ready(const Domain& domain, unsigned scheduler, const warp_formation::Issue& issue) const {
  if (!front_end_.holds(domain.first_context + issue.context, issue.pc)) return Stall::kFetch;
  const Operation& op = kernel_->operations[issue.pc];
  if (!barrel_) {
    for (const auto& group : issue.groups) {
      if ((registers_.pending(group.chunk, op.keys.data(), op.key_count) & group.mask) != 0) {
        const std::uint32_t loads =
            registers_.pending_load(group.chunk, op.keys.data(), op.key_count) & group.mask;
        const Stall stall = loads != 0 ? Stall::kMemory : Stall::kDependence;
        domain.wait(issue.context, group.chunk, stall);
        return stall;
      }
    }
  }
  const ptx::Unit unit = op.instruction->unit;
  if (!unit_available(domain.first_scheduler + scheduler, unit)) {
    domain.wait_for_unit(issue.context, unit);
    return unit == ptx::Unit::kMemory ? Stall::kMemoryBusy : Stall::kUnitBusy;
  }
  return free_ids_.empty() ? Stall::kUnitBusy : Stall::kNone;
}

bool Sm::unit_available(unsigned scheduler, ptx::Unit unit) const {
  return (unit != ptx::Unit::kMemory || memory_.can_accept()) && units_.can_start(now_, scheduler, unit);
}

// One response per cycle enters the load-store unit; only those that came before this edge.
void Sm::take_responses(Cycle now) {
  if (responses_.empty()) return;
  const Response response = responses_.front();
  if (response.arrival >= sc_core::sc_time_stamp().value()) return;
  responses_.pop();
  if (LoadStoreUnit::is_instruction_fill(response.tag)) {
    front_end_.fill(now, response.address);
  }
  memory_.respond(now, response.tag, response.address);
  if (open_response_ != nullptr) {
    tlm::tlm_generic_payload& payload = *open_response_;
    open_response_ = nullptr;
    take_answer(payload, sc_core::SC_ZERO_TIME);
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    memory_socket->nb_transport_fw(payload, phase, delay);
    payload.release();
  }
}

void Sm::send_request(Cycle) {
  auto& outgoing = memory_.outgoing();
  if (open_request_ != nullptr || outgoing.empty() || responses_.full()) return;
  const std::uint64_t time = sc_core::sc_time_stamp().value();
  if (channel_free_since_ >= time && channel_free_since_ != 0) return;
  const OutgoingRequest request = outgoing.front();
  outgoing.pop();
  memory_.sent();
  tlm::tlm_generic_payload& payload =
      request.access == OutgoingRequest::kDeviceMemory
          ? pool_->acquire(request.command, request.address, image_ + request.address, request.bytes)
          : system_payload(request);
  TransactionOrigin& origin = *origin_of(payload);
  origin.kind = request.kind;
  origin.sm = static_cast<std::uint16_t>(index_);
  origin.atomic_lanes = request.atomic_lanes;
  origin.tag = request.tag;
  origin.issued_ps = time;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  open_request_ = &payload;
  const tlm::tlm_sync_enum status = memory_socket->nb_transport_fw(payload, phase, delay);
  if (status == tlm::TLM_COMPLETED) {  // no more phases: the answer is there
    open_request_ = nullptr;
    take_answer(payload, delay);
    payload.release();
  } else if (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
    if (transport_bw(payload, phase, delay) == tlm::TLM_COMPLETED) {
      phase = tlm::END_RESP;
      memory_socket->nb_transport_fw(payload, phase, delay);
    }
  } else if (status == tlm::TLM_UPDATED) {  // END_REQ
    open_request_ = nullptr;
  }
}

// An error answer is a fault of the simulated program: it named an address that the memory system does not
// have.
void Sm::take_answer(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
  if (origin_of(payload)->system && !system_answered(payload)) return;
  if (payload.is_response_error()) {
    if (!stopped_) {
      fault({FaultKind::kIllegalAddress, "the memory system answered " + payload.get_response_string() +
                                             " at device-memory offset " +
                                             std::to_string(payload.get_address())});
    }
    return;
  }
  responses_.push(
      {origin_of(payload)->tag, payload.get_address(), (sc_core::sc_time_stamp() + delay).value()});
}

tlm::tlm_sync_enum Sm::transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                    sc_core::sc_time& delay) {
  if (phase == tlm::END_REQ) {
    open_request_ = nullptr;
    channel_free_since_ = (sc_core::sc_time_stamp() + delay).value();
    clock_.wake(clock_index_);
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (open_request_ == &payload) {  // BEGIN_RESP implies END_REQ
    open_request_ = nullptr;
    channel_free_since_ = (sc_core::sc_time_stamp() + delay).value();
  }
  clock_.wake(clock_index_);
  if (responses_.full()) {
    open_response_ = &payload;
    return tlm::TLM_ACCEPTED;
  }
  take_answer(payload, delay);
  phase = tlm::END_RESP;
  payload.release();
  return tlm::TLM_COMPLETED;
}

bool Sm::drained() const {
  return memory_.idle() && open_request_ == nullptr && responses_.empty() && open_response_ == nullptr &&
         pool_->in_use() == 0 && free_ids_.size() == kMaxIssues &&
         std::none_of(slots_.begin(), slots_.end(), [](const ResidentBlock& block) { return block.live; });
}

std::string Sm::dump() const {
  std::string text;
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    const std::string lines = domains_[d].unit->dump();
    if (!lines.empty())
      text += std::string(name()) + ", scheduler domain " + std::to_string(d) + ":\n" + lines;
  }
  for (const auto& block : slots_) {
    for (unsigned b = 0; b < BlockBarrier::kPerBlock && block.live; ++b) {
      const BlockBarrier& barrier = barriers_[block.slot].all[b];
      if (barrier.arrived() == 0) continue;
      std::ostringstream line;
      line << name() << ", block (" << block.index[0] << "," << block.index[1] << "," << block.index[2]
           << "), barrier " << b << ": " << barrier.arrived() << " threads arrived, "
           << (barrier.expected() != 0 ? barrier.expected() : block.live_threads) << " expected\n";
      text += line.str();
    }
  }
  return text + dump_gatherings();
}

std::uint64_t Sm::live_threads() const {
  std::uint64_t threads = 0;
  for (const auto& block : slots_) threads += block.live ? block.live_threads : 0;
  return threads;
}

warp_formation::Census Sm::census() const {
  warp_formation::Census sum;
  for (const auto& domain : domains_) {
    const auto part = domain.unit->census();
    sum.issued += part.issued;
    sum.ready += part.ready;
    sum.barrier += part.barrier;
    sum.lat_barrier += part.lat_barrier;
    sum.reconvergence += part.reconvergence;
    sum.inactive_path += part.inactive_path;
    sum.lookup += part.lookup;
    sum.queued += part.queued;
    sum.warp_sync += part.warp_sync;
  }
  return sum;
}

void Sm::bind(statistics::Registry& registry, const std::string& prefix) {
  static constexpr std::array<const char*, warp_formation::kStalls> kMeaning = {
      "an instruction was issued",
      "a ready warp waited for its functional unit",
      "a ready warp waited for the load-store unit",
      "operands waited for loads",
      "operands waited for arithmetic",
      "branches were being resolved",
      "instruction buffers were empty",
      "threads waited at a block barrier",
      "threads waited for others of their warp",
      "threads were inside the scheme's tables",
      "there were no threads"};
  registry.counter(prefix + ".warp_instructions", "instructions", "instructions issued",
                   counters_.warp_instructions);
  registry.counter(prefix + ".thread_instructions", "instructions", "threads of the instructions issued",
                   counters_.thread_instructions);
  registry.counter(prefix + ".active_beats", "cycles", "SIMD cycles with an active lane",
                   counters_.active_beats);
  registry.counter(prefix + ".active_lanes", "lanes", "active lanes, summed over these cycles",
                   counters_.active_lanes);
  registry.counter(prefix + ".warp_gatherings", "instructions",
                   "warp-level primitives whose threads had to wait for others", counters_.warp_gatherings);
  registry.counter(prefix + ".spill_instructions", "instructions",
                   "warp instructions that load or store registers spilled to local memory",
                   counters_.spill_instructions);
  registry.counter(prefix + ".blocks_launched", "blocks", "thread blocks placed", counters_.blocks_launched);
  registry.counter(prefix + ".blocks_retired", "blocks", "thread blocks done", counters_.blocks_retired);
  registry.counter(prefix + ".threads_launched", "threads", "threads started", counters_.threads_launched);
  registry.counter(prefix + ".threads_retired", "threads", "threads that exited", counters_.threads_retired);
  for (std::size_t s = 0; s < schedulers_.size(); ++s) {
    std::string buckets = prefix;
    buckets.append(".scheduler").append(std::to_string(s)).append(".cycles.");
    for (unsigned b = 0; b < warp_formation::kStalls; ++b) {
      std::string bucket = buckets;
      bucket.append(b == 0 ? "issued" : name_of(static_cast<Stall>(b)));
      registry.counter(std::move(bucket), "cycles", std::string("cycles in which ") + kMeaning[b],
                       schedulers_[s].buckets[b]);
    }
  }
  bind_observations(registry, prefix);
  front_end_.bind(registry, prefix + ".front_end");
  memory_.bind(registry, prefix + ".memory");
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    domains_[d].unit->bind(registry, prefix + ".warp_formation" + std::to_string(d));
  }
}

}  // namespace weft::sm
