// A streaming multiprocessor: resident blocks, front end, warp-formation units, functional units, load-store
// unit.
//
// One initiator socket to the crossbar. Blocks are placed by the dispatcher, which is told when one retires.
#ifndef WEFT_SM_SM_H
#define WEFT_SM_SM_H

#include <array>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/clock_domain.h"
#include "bus/memory_transaction.h"
#include "datapath/datapath.h"
#include "dispatch/dispatcher.h"
#include "execute/executor.h"
#include "execute/kernel.h"
#include "execute/register_file.h"
#include "execute/synchroniser.h"
#include "sm/async_copies.h"
#include "sm/cycle_account.h"
#include "sm/event_wheel.h"
#include "sm/front_end.h"
#include "sm/in_flight.h"
#include "sm/load_store_unit.h"
#include "sm/memory_port.h"
#include "sm/outcome_list.h"
#include "sm/sm_observer.h"
#include "sm/system_transactions.h"
#include "sm/waking_contexts.h"
#include "weft/common/archive.h"
#include "weft/common/fault.h"
#include "weft/common/statistics.h"
#include "weft/sm/sm_config.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

// What an SM reports to the rest of the GPU.
class SmListener {
 public:
  virtual ~SmListener() = default;
  virtual void block_retired(unsigned sm) = 0;
  virtual void registers_freed(unsigned sm) = 0;  // by warps whose block goes on
  virtual void sm_drained(unsigned sm) = 0;       // no threads and no transactions left
  virtual void faulted(unsigned sm, const Fault& fault) = 0;
};

// Whether waveforms are compiled in (CMake option WEFT_TRACE).
inline constexpr bool kTracing = WEFT_TRACE != 0;

class Sm final : public sc_core::sc_module,
                 public Clocked,
                 public dispatch::BlockTarget,
                 private LoadStoreListener,
                 private execute::Synchroniser::Runner,
                 private MemoryPort::Listener {
 public:
  using Stall = warp_formation::Stall;
  tlm::tlm_initiator_socket<32> memory_socket;

  Sm(sc_core::sc_module_name name, unsigned index, const Config& config,
     const warp_formation::Config& formation, ClockDomain& clock, SmListener& listener);
  ~Sm() override;

  // Throws InputError if the kernel needs warps that the scheme does not keep.
  void check_warps(const execute::Kernel& kernel) const;
  // The SM turns to a kernel, with empty caches; buckets are counted from `now` on. Nothing of the one before
  // may be left (`drained`), which finish_kernel has closed.
  void start_kernel(const execute::Kernel& kernel, const execute::DeviceMemoryView& memory,
                    std::uint64_t code_offset, std::uint64_t parameter_offset, Cycle now);
  // Counts the cycles before `end` that a sleeping SM has not counted yet, for who reads the statistics after
  // the step of the cycle before it.
  void settle(Cycle end) {
    if (!state_.running) return;
    account_.bring_to(end);
    observers_.tell(&SmObserver::counted, end);
  }
  // The same for the cycle of the last step, which counts itself with the next one.
  void settle() { settle(state_.now + 1); }
  // The kernel is done (or abandoned): closes the account of cycles at `now`.
  void finish_kernel(Cycle now);
  bool can_launch() const override;
  void launch_block(const dispatch::Dim3& index) override;
  void reset();
  // Between two launches, with what the statistics do not have. Throws NotAtRest if the SM is not drained.
  void archive(Archive& archive);
  // Whether the scheme can be kept (warp_formation::WarpFormation::archive).
  bool can_be_kept() const { return domains_[0].unit->can_be_kept(); }

  Cycle step(Cycle now) override;

  bool drained() const override;
  void bind(statistics::Group& group);
  void bind_scalars(statistics::Group& group);
  void bind_thread_states(statistics::Group& group);
  // One line per live warp, per domain, for the watchdog.
  std::string dump() const;
  std::uint64_t live_threads() const;
  warp_formation::Census census() const;
  // Exits, openings of barriers and new blocks so far: what a kernel that goes on does now and then.
  std::uint64_t milestones() const {
    return counters_.threads_retired + synchroniser_.barriers_opened() + counters_.blocks_launched;
  }
  // To system memory, which others change: threads that read it have reason to wait.
  std::uint64_t system_accesses() const { return system_.opened(); }

  // Transactions to device memory have their bytes with them from the next launch on, for who looks at a hop.
  // Time is the same.
  void carry_data(bool carries) { carries_data_ = carries; }

  // A kernel's write to system memory is done: what the first level holds of it changes alike.
  void update_system_lines(std::uint64_t address, const tlm::tlm_generic_payload& write) {
    memory_.update_system_lines(address, write);
  }
  // What the first level holds of system memory from `first` to `last` is no longer valid.
  void drop_system_lines(std::uint64_t first, std::uint64_t last) {
    constexpr std::uint64_t kLast = execute::kSystemSpace - 1;
    if (first > kLast) return;
    memory_.drop_system_lines(first + execute::kSystemSpace, std::min(last, kLast) + execute::kSystemSpace);
  }

  // Transactions that have not been answered yet.
  std::size_t transactions() const { return memory_port_.transactions(); }

  // Shows accesses and barriers to `observer` from now on; nullptr: to nobody. (Instructions: AccessView.)
  void observe(execute::AccessObserver* observer) {
    executor_.observe(observer);
    synchroniser_.observe(observer);
  }

  // Shows its work to `observer` from now on (sm_observer.h), or no more.
  void attach(SmObserver& observer) { observers_.attach(observer); }
  void detach(const SmObserver& observer) { observers_.detach(observer); }
  static constexpr unsigned kMaxIssues = 512;

  // --- what observers look at ---

  unsigned index() const { return index_; }
  // The kernel that the SM holds; nullptr: none.
  const execute::Kernel* kernel() const { return state_.running ? state_.kernel : nullptr; }
  // Chunks of threads that it has room for.
  unsigned chunks() const { return state_.kernel->occupancy.resident * state_.kernel->chunks_per_block; }
  const std::vector<execute::ResidentBlock>& blocks() const { return state_.blocks; }  // by slot
  bool has_block() const;
  const InFlightTable& in_flight() const { return in_flight_; }
  const datapath::Datapath& datapath() const { return *datapath_; }
  const CycleAccount& cycles() const { return account_; }
  execute::RegisterFile& registers() { return registers_; }
  // What the scheduler does from the last step on; kNone: it issued in that cycle.
  Stall stall(unsigned scheduler) const { return account_.last(scheduler); }
  unsigned schedulers() const { return static_cast<unsigned>(config_.schedulers); }
  bool is_barrel() const { return barrel_; }
  unsigned domains() const { return static_cast<unsigned>(domains_.size()); }
  unsigned first_context(unsigned domain) const { return domains_[domain].first_context; }
  // Of the warp slots of a domain, numbered from 0: what those wait for that offer an instruction, and which.
  const warp_formation::SmView& view(unsigned domain) const { return domains_[domain]; }
  const warp_formation::ContextTable& next_pcs(unsigned domain) const {
    return domains_[domain].unit->contexts();
  }
  // What the warp slot of a domain offers, or would.
  warp_formation::WarpFormation::Next next(unsigned domain, unsigned context,
                                           warp_formation::Issue& offer) const {
    return domains_[domain].unit->next(context, offer);
  }
  // The warp slot of a domain is known to wait, and is not asked.
  bool has_set_aside(unsigned domain, unsigned context) const {
    return domains_[domain].has_set_aside(context);
  }
  // The domain's first scheduler could issue it in the cycle of this step.
  bool would_issue(unsigned domain, const warp_formation::Issue& offer) const {
    return ready<false>(domains_[domain], 0, offer) == Stall::kNone;
  }
  unsigned lane_count() const { return datapath_->lane_count(); }

  struct Counters {
    std::uint64_t warp_instructions = 0;
    std::uint64_t thread_instructions = 0,  // threads of the issues ...
        executed_thread_instructions = 0;   // ... those of them whose guard held
    std::uint64_t active_beats = 0,
                  active_lanes = 0;         // issue beats with an active lane; lanes active in them
    std::uint64_t warp_gatherings = 0;      // warp-level primitives whose threads were not all in one issue
    std::uint64_t spill_instructions = 0;   // loads and stores of spilled registers
    std::uint64_t scalar_instructions = 0,  // executed once for all threads of their issue ...
        scalar_thread_instructions = 0;     // ... for so many
    std::uint64_t scalar_beside = 0;        // issued in the cycle of an instruction on the lanes
    std::uint64_t threads_launched = 0, threads_retired = 0, blocks_launched = 0, blocks_retired = 0;
  };
  const Counters& counters() const { return counters_; }
  // Of the datapath: threads that a beat can run.
  unsigned lanes() const { return datapath_->lanes(); }
  // Beats of one scheduler that a cycle can have: of each of its lanes where lanes run warps of their own.
  unsigned beats_in_a_cycle() const {
    return std::max(1u, datapath_->lane_count() / static_cast<unsigned>(config_.schedulers));
  }
  // Of a lane that runs warps of its own; all of the datapath's where none does.
  unsigned lane_width() const {
    return static_cast<unsigned>(config_.simd_groups * config_.simd_width) /
           std::max(1u, datapath_->lane_count());
  }
  // WarpFormation::warp_width of the scheme.
  unsigned warp_width() const { return domains_[0].unit->warp_width(); }

 private:
  using ThreadGroup = warp_formation::ThreadGroup;

  // A scheduler domain: one warp-formation unit and its view of the SM.
  struct Domain final : warp_formation::SmView {
    Sm* sm = nullptr;
    unsigned first_context = 0, first_scheduler = 0;
    std::unique_ptr<warp_formation::WarpFormation> unit;
    Stall ready(unsigned scheduler, const warp_formation::Issue& issue) const override {
      return sm->ready<true>(*this, scheduler, issue);
    }
    void wait(unsigned context, unsigned chunk, Stall stall) const {
      (stall == Stall::kMemory ? waiting_for_memory_ : waiting_for_arithmetic_).add(context);
      waiters[chunk].add(context);
    }
    // Registers of threads of the chunk were written.
    void written(unsigned chunk) {
      if (waiters[chunk].empty()) return;
      waiting_for_memory_.remove(waiters[chunk]);
      waiting_for_arithmetic_.remove(waiters[chunk]);
      waiters[chunk].clear();
    }
    // The context's instruction cannot start before `until`. (SIMD groups are free so soon that to set a
    // context aside would not pay.)
    void wait_for_unit(unsigned context, ptx::Unit unit, Cycle until) const {
      if (unit == ptx::Unit::kSfu) {
        waiting_for_unit_.add(context);
        sfu_free = std::min(sfu_free, until);
      } else if (unit == ptx::Unit::kMemory) {
        waiting_for_memory_unit_.add(context);
        memory_free = std::min(memory_free, until);
      }
    }
    // The context's instruction cannot start before `until`, for its lane or for operands that come then.
    void wait_until(unsigned context, Stall stall, Cycle now, Cycle until) const {
      (stall == Stall::kUnitBusy ? waiting_for_unit_ : waiting_for_arithmetic_).add(context);
      waking_.add(now, context, until);
    }
    // Contexts whose unit may be free now are asked again. `room`: the load-store unit takes instructions.
    void free_units(Cycle now, bool room) {
      if (now >= sfu_free) {
        waiting_for_unit_.clear();
        sfu_free = kNever;
      }
      if (room && now >= memory_free) {
        waiting_for_memory_unit_.clear();
        memory_free = kNever;
      }
      waking_.take(now, [this](const warp_formation::ContextSet& contexts) {
        waiting_for_unit_.remove(contexts);
        waiting_for_arithmetic_.remove(contexts);
      });
    }
    Cycle next_waking() const { return waking_.next(); }
    // The context is known to wait: asking again is a waste of time.
    bool has_set_aside(unsigned context) const {
      return waiting_for_memory_.has(context) || waiting_for_arithmetic_.has(context) ||
             waiting_for_unit_.has(context) || waiting_for_memory_unit_.has(context) ||
             waiting_for_fetch_.has(context);
    }
    void forget_waiters(unsigned chunks) {
      sfu_free = memory_free = kNever;
      waiting_for_unit_.clear();
      waiting_for_memory_unit_.clear();
      waking_.clear();
      waiting_for_memory_.clear();
      waiting_for_arithmetic_.clear();
      waiters.assign(chunks, {});
    }
    warp_formation::ContextSet& fetching() { return waiting_for_fetch_; }
    mutable std::vector<warp_formation::ContextSet> waiters;  // by chunk
    // Before these cycles no special-function unit, and not the load-store unit, is free for those who wait.
    mutable Cycle sfu_free = kNever, memory_free = kNever;
    mutable WakingContexts waking_;  // contexts set aside until a cycle that is known
  };
  struct Event {
    enum class Kind : std::uint8_t { kWriteBack, kResolve, kReturn } kind = Kind::kWriteBack;
    std::uint16_t issue = 0;
    std::uint32_t which = 0;  // kWriteBack: bit g: group g of the issue; kReturn: the chunk
    std::uint32_t mask = 0;   // of threads of these
  };
  // Where scalar instructions have a unit of their own: what a scheduler may still issue in this cycle. A
  // warp issues to one of the two units only.
  struct Slots {
    bool limited = false;                                // a scheduler is choosing
    std::array<std::uint64_t, 2> left{};                 // for [0] vector, [1] scalar instructions
    std::array<warp_formation::ContextSet, 2> issued{};  // contexts that did
    bool allow(bool scalar, unsigned context) const {
      return left[scalar ? 1 : 0] != 0 && !issued[scalar ? 0 : 1].has(context);
    }
  };
  // What changes while kernels run and is no part with a reset of its own.
  struct State {
    explicit State(std::size_t slots) : blocks(slots), references(slots, 0) {}
    const execute::Kernel* kernel = nullptr;
    std::uint8_t* image = nullptr;
    std::vector<execute::ResidentBlock> blocks;  // by slot
    std::vector<std::uint32_t> references;       // instructions in flight, by slot
    Cycle now = 0;
    bool running = false, stopped = false, reported_drained = true;
    void archive(Archive& archive) {
      auto& [kernel_, image_, blocks_, references_, now_, running_, stopped_, drained_] = *this;
      archive(set_anew(kernel_, image_, blocks_), references_, now_, at_rest(running_), at_rest(stopped_),
              drained_);
    }
  };
  // sm.cpp
  static std::vector<Domain> domains_of(const Config& config, const warp_formation::Config& formation,
                                        unsigned lanes);
  static unsigned contexts_of(const std::vector<Domain>& domains);
  // `kSetsAside`: a context that has to wait is not asked again until it may have changed.
  template <bool kSetsAside>
  Stall ready(const Domain& domain, unsigned scheduler, const warp_formation::Issue& issue) const;
  Cycle operands(const execute::Operation& op, const warp_formation::Issue& issue) const;
  std::uint8_t* direct_memory(std::uint64_t bytes);
  void take_responses(Cycle now);
  Stages stages_of(const MemoryPort::Answer& answer) const;
  void send_request(Cycle now);
  tlm::tlm_generic_payload& carrying(const OutgoingRequest& request);
  bool memory_answered(const tlm::tlm_generic_payload& payload) override;
  Cycle next_event(Cycle now, bool unit_busy) const;
  std::uint16_t free_slot() const;  // of a block; there is one

  // sm_issue.cpp
  Stall issue(Cycle now, Domain& domain, unsigned scheduler);
  Stall issue_to_two(Cycle now, Domain& domain, unsigned scheduler);
  void start(Cycle now, Domain& domain, unsigned scheduler, const warp_formation::Issue& issue);
  void start_memory(Cycle now, std::uint16_t id, const datapath::Times& times);
  void start_control(Cycle now, std::uint16_t id, const datapath::Times& times);
  void start_arithmetic(Cycle now, std::uint16_t id, const datapath::Times& times);
  void finish_arithmetic(Cycle now, std::uint16_t id, const datapath::Times& times);
  void resolve_all(std::uint16_t id);
  void consume(Domain& domain, const warp_formation::Issue& issue);

  // sm_calls.cpp
  using Targets = std::array<std::array<ptx::Pc, isa::kLanes>, warp_formation::kMaxGroups>;
  static bool has_targets(const ptx::Instruction& in);
  bool find_targets(std::uint16_t id, Targets& targets);
  void resolve_targets(std::uint16_t id);

  // All positions of the warp with these threads of a chunk.
  std::uint32_t warp_around(std::uint32_t threads) const {
    const auto size = static_cast<unsigned>(formation_.warp_size);
    if (size >= isa::kLanes) return ~0u;
    return ((1u << size) - 1) << static_cast<unsigned>(__builtin_ctz(threads)) / size * size;
  }

  // sm_commit.cpp
  void handle(Cycle now, const Event& event);
  void write_back(const Event& event);
  void resolve_control(std::uint16_t id);
  void resolve_idle_threads(std::uint16_t id);
  void release(std::uint16_t id);
  void resolved(std::uint16_t id, warp_formation::Outcomes outcomes) {
    observers_.tell(&SmObserver::resolved, id, outcomes, state_.now);
    domains_[in_flight_[id].domain].unit->resolved(id, outcomes);
  }
  void tell(std::uint16_t id);
  void go_on(std::uint16_t id, const ThreadGroup& group);
  void exit_threads(const InFlight& flight);
  void retire_if_done(std::uint16_t slot);
  void memory_returned(std::uint16_t issue, unsigned chunk, std::uint32_t mask) override;
  void memory_finished(std::uint16_t issue) override;
  void fault(const Fault& fault);

  std::uint32_t open_system(std::uint16_t issue, std::uint64_t block) override {
    const InFlight& flight = in_flight_[issue];
    return system_.open(flight, state_.blocks[flight.slot], block);
  }
  void join_system(std::uint32_t handle, const execute::LaneAccess& access, std::uint32_t lanes) override {
    system_.join(handle, access, lanes);
  }
  bool can_start_system(std::uint32_t handle) const override { return !system_.waits(handle); }
  void started_system(std::uint32_t handle) override { system_.started(handle); }
  void fill_system(std::uint32_t handle, const std::uint8_t* bytes) override { system_.fill(handle, bytes); }
  void close_system(std::uint32_t handle) override { system_.close(handle); }
  void order(const InFlight& flight);

  // sm_synchronise.cpp
  void resolve_barrier(std::uint16_t id);
  template <class Visit>
  bool each_gathering(const InFlight& flight, Visit&& visit);
  void start_warp(Cycle now, std::uint16_t id, const datapath::Times& times);
  void arrive_at_gathering(std::uint16_t id);
  std::uint32_t ending(const execute::ResidentBlock& block, unsigned chunk) const override;
  std::uint32_t held_back(const execute::ResidentBlock& block, unsigned chunk,
                          const std::uint32_t* standing) const override;
  std::uint32_t waiting_to_exit(const execute::ResidentBlock& block) const override;
  void barrier_opened(const execute::ResidentBlock& block, unsigned barrier) override;
  void gathered(const execute::ResidentBlock& block, unsigned chunk, std::uint32_t lanes) override;
  void wait_for_copies(std::uint16_t id);
  bool resume_after_copies(std::uint16_t id);

  const unsigned index_;
  const Config& config_;
  const warp_formation::Config& formation_;
  ClockDomain& clock_;
  SmListener& listener_;
  const std::size_t clock_index_;
  const bool barrel_;

  SmObservers observers_;
  execute::RegisterFile registers_;
  execute::Executor executor_;
  std::unique_ptr<datapath::Datapath> datapath_;
  const bool in_turn_, forwards_, scalar_unit_;  // the datapath's
  std::vector<Domain> domains_;
  FrontEnd front_end_;
  LoadStoreUnit memory_;
  CycleAccount account_;
  State state_;
  execute::Synchroniser synchroniser_;
  AsyncCopies copies_;
  InFlightTable in_flight_;
  OutcomeList outcomes_;  // of the issue that is being resolved
  EventWheel<Event> wheel_;
  MemoryPort memory_port_;
  SystemTransactions system_;
  Slots slots_;

  Counters counters_;
  std::vector<std::unique_ptr<SmObserver>> own_observers_;
  bool carries_data_ = false;
};

}  // namespace weft::sm

#endif
