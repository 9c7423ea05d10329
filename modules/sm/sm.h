// A streaming multiprocessor: resident blocks, front end, warp-formation units, functional units, load-store
// unit.
//
// One initiator socket to the crossbar. Blocks are placed by the dispatcher, which is told when one retires.
#ifndef WEFT_SM_SM_H
#define WEFT_SM_SM_H

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "common/clock_domain.h"
#include "common/fault.h"
#include "common/memory_transaction.h"
#include "common/ring.h"
#include "common/statistics.h"
#include "dispatch/dispatcher.h"
#include "sm/block_barrier.h"
#include "sm/copy_groups.h"
#include "sm/event_wheel.h"
#include "sm/executor.h"
#include "sm/front_end.h"
#include "sm/instruction_profile.h"
#include "sm/kernel.h"
#include "sm/lane_oracle.h"
#include "sm/load_store_unit.h"
#include "sm/register_file.h"
#include "sm/sm_config.h"
#include "sm/spin_observer.h"
#include "sm/units.h"
#include "sm/warp_gatherings.h"
#include "warp_formation/warp_formation.h"

namespace weft::sm {

// What an SM reports to the rest of the GPU.
class SmListener {
 public:
  virtual ~SmListener() = default;
  virtual void block_retired(unsigned sm) = 0;
  virtual void sm_drained(unsigned sm) = 0;  // no threads and no transactions left
  virtual void faulted(unsigned sm, const Fault& fault) = 0;
};

// Whether waveforms are compiled in (CMake option WEFT_TRACE); off only to measure what they cost when not
// asked for.
inline constexpr bool kTracing = WEFT_TRACE != 0;

// A view of one cycle, for waveforms. A sleeping SM leaves it as its last step did.
struct SmTrace {
  Cycle cycle = 0;          // the cycle that it is of
  ptx::Pc pc = ptx::kNoPc;  // issued by scheduler 0 in this cycle (the last of several); kNoPc: nothing
  std::uint32_t active_lanes = 0;  // threads issued in this cycle, all schedulers
  warp_formation::Stall stall = warp_formation::Stall::kEmpty;  // of scheduler 0
  std::uint32_t ready_warps = 0;
};

class Sm final : public sc_core::sc_module,
                 public Clocked,
                 public dispatch::BlockTarget,
                 private LoadStoreListener,
                 private AtomicOperation {
 public:
  tlm_utils::simple_initiator_socket<Sm> memory_socket;

  Sm(sc_core::sc_module_name name, unsigned index, const Config& config,
     const warp_formation::Config& formation, ClockDomain& clock, SmListener& listener);
  ~Sm() override;

  // Throws InputError if the kernel needs warps that the scheme does not keep.
  void check_warps(const Kernel& kernel) const;
  // The SM turns to a kernel, with empty caches; buckets are counted from `now` on. Nothing of the one before
  // may be left (`drained`), which finish_kernel has closed.
  void start_kernel(const Kernel& kernel, const DeviceMemoryView& memory, std::uint64_t code_offset,
                    std::uint64_t parameter_offset, Cycle now);
  // The kernel is done (or abandoned): closes the account of cycles at `now`.
  void finish_kernel(Cycle now);
  bool can_launch() const override;
  void launch_block(const dispatch::Dim3& index) override;
  void reset();

  Cycle step(Cycle now) override;

  bool drained() const override;
  void bind(statistics::Registry& registry, const std::string& prefix);
  // One line per live warp, per domain, for the watchdog.
  std::string dump() const;
  std::uint64_t live_threads() const;
  warp_formation::Census census() const;
  // For the watchdog: watches whether threads only repeat themselves, from now on until stopped.
  void observe_spinning(bool on);
  struct Spinning {
    SpinObserver::Verdict threads;
    bool busy = false;  // an instruction from before the watch is still in flight
    std::string example;
  };
  Spinning spinning() const;
  // Exits, openings of barriers and new blocks so far: what a kernel that goes on does now and then.
  std::uint64_t milestones() const {
    return counters_.threads_retired + barriers_opened_ + counters_.blocks_launched;
  }
  // To system memory, which others change: threads that read it have reason to wait.
  std::uint64_t system_accesses() const { return system_accesses_; }

  // Transactions that have not been answered yet.
  std::size_t transactions() const { return pool_->in_use(); }

  // Counts instructions of the launches from now on in `profile`; nullptr: does not.
  void profile(InstructionProfile* profile) { profile_ = profile; }
  // Shows accesses and barriers to `observer` from now on; nullptr: to nobody.
  void observe(AccessObserver* observer) {
    observer_ = observer;
    executor_.observe(observer);
  }

  // Fills *trace in each step from now on; nullptr: no more.
  void trace(SmTrace* trace) { trace_ = trace; }

  struct Counters {
    std::uint64_t warp_instructions = 0, thread_instructions = 0;
    std::uint64_t active_beats = 0,
                  active_lanes = 0;        // issue beats with an active lane; lanes active in them
    std::uint64_t warp_gatherings = 0;     // warp-level primitives whose threads were not all in one issue
    std::uint64_t spill_instructions = 0;  // loads and stores of spilled registers
    std::uint64_t threads_launched = 0, threads_retired = 0, blocks_launched = 0, blocks_retired = 0;
  };
  const Counters& counters() const { return counters_; }
  // WarpFormation::warp_width of the scheme.
  unsigned warp_width() const { return domains_[0].unit->warp_width(); }
  // Cycles of one scheduler by what it did: [0] issued, else by Stall. They sum to the cycles of the
  // launches.
  const std::array<std::uint64_t, warp_formation::kStalls>& buckets(unsigned scheduler) const {
    return schedulers_[scheduler].buckets;
  }
  const LoadStoreUnit& load_store_unit() const { return memory_; }
  void reset_counters() { counters_ = {}; }

 private:
  using Stall = warp_formation::Stall;
  using ThreadGroup = warp_formation::ThreadGroup;
  static constexpr unsigned kMaxIssues = 512;

  // A scheduler domain: one warp-formation unit and its view of the SM.
  struct Domain final : warp_formation::SmView {
    Sm* sm = nullptr;
    unsigned first_context = 0, first_scheduler = 0;
    std::unique_ptr<warp_formation::WarpFormation> unit;
    Stall ready(unsigned scheduler, const warp_formation::Issue& issue) const override {
      return sm->ready(*this, scheduler, issue);
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
    void wait_for_unit(unsigned context, ptx::Unit unit) const {
      if (unit == ptx::Unit::kSfu) waiting_for_unit_.add(context);
      if (unit == ptx::Unit::kMemory) waiting_for_memory_unit_.add(context);
    }
    void unit_free(ptx::Unit unit) {
      (unit == ptx::Unit::kSfu ? waiting_for_unit_ : waiting_for_memory_unit_).clear();
    }
    void forget_waiters(unsigned chunks) {
      waiting_for_unit_.clear();
      waiting_for_memory_unit_.clear();
      waiting_for_memory_.clear();
      waiting_for_arithmetic_.clear();
      waiters.assign(chunks, {});
    }
    warp_formation::ContextSet& fetching() { return waiting_for_fetch_; }
    mutable std::vector<warp_formation::ContextSet> waiters;  // by chunk
  };
  struct Scheduler {
    std::array<std::uint64_t, warp_formation::kStalls> buckets{};
    Stall last = Stall::kEmpty;
  };
  // An instruction in flight.
  struct InFlight {
    const Operation* op = nullptr;
    ptx::Pc pc = 0;
    std::uint16_t depth = 0, slot = 0, domain = 0;
    std::uint8_t group_count = 0;
    std::uint16_t references = 0;  // what still has to come: events, the load-store unit
    bool waits = false;            // barrel: threads wait for loaded data
    Cycle earliest = 0;            // barrel: no thread is resolved before
    std::array<ThreadGroup, warp_formation::kMaxGroups> groups;
    std::array<std::uint32_t, warp_formation::kMaxGroups> executing;  // threads whose guard holds
  };
  struct Event {
    enum class Kind : std::uint8_t { kWriteBack, kResolve, kReturn } kind = Kind::kWriteBack;
    std::uint16_t issue = 0;
    std::uint16_t chunk = 0;
    std::uint32_t mask = 0;
  };
  // An access to system memory whose transaction is under way, or will be.
  struct SystemAccess {
    const Operation* op = nullptr;
    ptx::Pc pc = 0;
    std::uint16_t chunk = 0, lane = 0;
    bool staged = false;        // `data` goes along
    std::uint64_t address = 0;  // of this lane
    ResidentBlock block;        // as it was: it may be gone when a store is answered
    StagedLane data;
  };
  // The barriers of a resident block; a bit of `in_use` for each at which a thread has arrived.
  struct BlockBarriers {
    std::array<BlockBarrier, BlockBarrier::kPerBlock> all;
    std::uint16_t in_use = 0;
  };

  // Threads by what they waited for, summed over cycles without an issue.
  struct Stalled {
    std::uint64_t cycles = 0, in_pipeline = 0, ready = 0, barrier = 0, reconvergence = 0, inactive = 0;
  };

  // sm_observe.cpp
  void count_instruction(const InFlight& flight, unsigned active_beats);
  void bind_observations(statistics::Registry& registry, const std::string& prefix);
  void count_stalled(Cycle cycles);

  // sm.cpp
  static std::vector<Domain> domains_of(const Config& config, const warp_formation::Config& formation);
  static unsigned contexts_of(const std::vector<Domain>& domains);
  Stall ready(const Domain& domain, unsigned scheduler, const warp_formation::Issue& issue) const;
  std::uint8_t* direct_memory(std::uint64_t bytes);
  bool unit_available(unsigned scheduler, ptx::Unit unit) const;
  void account(Cycle now);
  void take_responses(Cycle now);
  void send_request(Cycle now);
  void take_answer(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
  Cycle next_event(Cycle now, bool unit_busy) const;
  tlm::tlm_sync_enum transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay);

  // sm_issue.cpp
  Stall issue(Cycle now, Domain& domain, unsigned scheduler);
  void start(Cycle now, Domain& domain, unsigned scheduler, const warp_formation::Issue& issue);
  void start_memory(Cycle now, std::uint16_t id, Cycle occupancy);
  void start_control(Cycle now, std::uint16_t id, Cycle occupancy);
  void start_arithmetic(Cycle now, std::uint16_t id, Cycle occupancy);
  void finish_arithmetic(Cycle now, std::uint16_t id, Cycle occupancy);
  void resolve_all(std::uint16_t id);
  void consume(Domain& domain, const warp_formation::Issue& issue);
  unsigned count(const warp_formation::Issue& issue);

  // sm_calls.cpp
  using Targets = std::array<std::array<ptx::Pc, isa::kLanes>, warp_formation::kMaxGroups>;
  static bool has_targets(const ptx::Instruction& in);
  bool find_targets(std::uint16_t id, Targets& targets);
  void resolve_targets(std::uint16_t id);

  // sm_commit.cpp
  void handle(Cycle now, const Event& event);
  void write_back(std::uint16_t id);
  void resolve_control(std::uint16_t id);
  void resolve_idle_threads(std::uint16_t id);
  void release(std::uint16_t id);
  void exit_threads(std::uint16_t slot, const warp_formation::Groups& groups, std::uint32_t threads);
  void retire_if_done(std::uint16_t slot);
  void memory_probed(std::uint16_t issue, const ThreadGroup* hits, unsigned count) override;
  void memory_returned(std::uint16_t issue, unsigned chunk, std::uint32_t mask) override;
  void memory_finished(std::uint16_t issue) override;
  void fault(const Fault& fault);

  // sm_system.cpp
  std::uint32_t open_system(std::uint16_t issue, const LaneAccess& access, unsigned lane) override;
  void close_system(std::uint32_t access) override;
  tlm::tlm_generic_payload& system_payload(const OutgoingRequest& request);
  bool system_answered(const tlm::tlm_generic_payload& payload);
  void apply(std::uint32_t access) override;

  // sm_barrier.cpp
  void prepare_synchronisation(const ResidentBlock& block);
  std::uint32_t barriers_named(const InFlight& flight);
  void resolve_barrier(std::uint16_t id);
  void arrive(const InFlight& flight, unsigned chunk, std::uint32_t lanes);
  std::string arrive_at(const InFlight& flight, unsigned chunk, std::uint32_t lanes, std::uint32_t number,
                        std::uint32_t count);
  auto never_arriving(const ResidentBlock& block) const;
  void test_barriers(std::uint16_t slot);

  // sm_warp.cpp
  template <class Visit>
  bool each_gathering(const InFlight& flight, Visit&& visit);
  std::uint32_t expected_members(unsigned domain, unsigned chunk, std::uint32_t mask,
                                 std::uint32_t arrived) const;
  void start_warp(Cycle now, std::uint16_t id, Cycle occupancy);
  void arrive_at_gathering(std::uint16_t id);
  void release_gatherings();
  void synchronised(std::uint16_t slot, const Operation& op, unsigned chunk, std::uint32_t lanes);
  std::string dump_gatherings() const;
  void start_copies(std::uint16_t id);
  void copies_returned(std::uint16_t id, unsigned chunk, std::uint32_t mask);
  void wait_for_copies(std::uint16_t id);
  bool resume_after_copies(std::uint16_t id);

  const unsigned index_;
  const Config& config_;
  const warp_formation::Config& formation_;
  ClockDomain& clock_;
  SmListener& listener_;
  const std::size_t clock_index_;
  const bool barrel_;

  RegisterFile registers_;
  Executor executor_;
  Units units_;
  std::vector<Domain> domains_;
  FrontEnd front_end_;
  LoadStoreUnit memory_;
  std::vector<Scheduler> schedulers_;
  const Kernel* kernel_ = nullptr;
  std::uint8_t* image_ = nullptr;
  std::vector<ResidentBlock> slots_;
  std::vector<std::uint32_t> slot_references_;  // instructions in flight, by slot
  std::vector<BlockBarriers> barriers_;         // by slot
  std::vector<std::uint32_t> live_;             // threads that have not exited, by chunk
  WarpGatherings gatherings_;
  CopyGroups copies_;
  std::vector<std::uint16_t> copy_waiters_;  // issues of cp.async.wait with threads that wait
  std::vector<ThreadGroup> scratch_groups_;
  std::vector<warp_formation::Outcome> scratch_outcomes_;
  std::vector<InFlight> in_flight_;
  std::vector<std::uint16_t> free_ids_;
  std::vector<ThreadGroup> target_groups_;  // of the instruction that resolve_targets works on
  std::vector<warp_formation::Outcome> target_outcomes_;
  EventWheel<Event> wheel_;
  Cycle now_ = 0, accounted_ = 0;
  bool running_ = false, stopped_ = false, reported_drained_ = true;

  std::unique_ptr<TransactionPool> pool_;
  SystemMemory* system_memory_ = nullptr;
  std::deque<SystemAccess> system_;  // payloads point into it
  std::vector<std::uint32_t> free_system_;
  std::uint64_t system_accesses_ = 0;
  tlm::tlm_generic_payload* open_request_ = nullptr;  // BEGIN_REQ without END_REQ
  std::uint64_t channel_free_since_ = 0;              // sc_time value of the END_REQ
  struct Response {
    std::uint64_t tag, address, arrival;
  };
  Ring<Response> responses_;
  tlm::tlm_generic_payload* open_response_ = nullptr;  // BEGIN_RESP without END_RESP

  Counters counters_;
  LaneOracle oracle_;
  InstructionProfile* profile_ = nullptr;
  InstructionCounts* instruction_counts_ = nullptr;  // of the running kernel, by PC
  SpinObserver spin_;
  Stalled stalled_;
  warp_formation::Census idle_census_;  // at the end of the last step, if nothing was issued in it
  bool idle_ = false;
  std::uint64_t barriers_opened_ = 0;
  SmTrace* trace_ = nullptr;
  AccessObserver* observer_ = nullptr;
};

}  // namespace weft::sm

#endif
