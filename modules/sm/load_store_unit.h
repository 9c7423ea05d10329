// The load-store unit: in which order memory instructions and their requests go on, and what they wait for.
//
// Time only: what loads and stores do to registers and device memory has happened at issue (executor.h); for
// system memory the unit says when requests go, and SystemAccesses moves the bytes. Memory instructions are
// taken in the order in which their addresses become known, one request per cycle. A request that cannot go
// on (no MSHR, no way, no place in the miss queue) holds up those behind it until a response comes or the
// queue moves. Lanes that each run a warp of their own give the addresses of an instruction group by group:
// its words in shared memory take the banks then (memory_intake.h), its requests wait for the last.
//
// With `l1d.lookup` = `last`, loads and stores of the data cache first go through stages, as many as its
// latency, and are looked up at their end, one per cycle and in order. With several `l1d.banks`, neighbouring
// blocks lie in neighbouring banks, and each bank has such stages. The requests of an instruction enter in
// order, one per bank and cycle, up to the first whose bank has taken one in this cycle or is full.
#ifndef WEFT_SM_LOAD_STORE_UNIT_H
#define WEFT_SM_LOAD_STORE_UNIT_H

#include <cstdint>
#include <vector>

#include "bus/clock_domain.h"
#include "common/ring.h"
#include "execute/executor.h"
#include "sm/cache_stages.h"
#include "sm/data_cache.h"
#include "sm/event_wheel.h"
#include "sm/first_level.h"
#include "sm/memory_intake.h"
#include "sm/memory_requests.h"
#include "sm/outgoing_queue.h"
#include "sm/request_tag.h"
#include "sm/sm_observer.h"
#include "sm/system_accesses.h"
#include "sm/waits_by_stage.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/machine/sm_config.h"

namespace weft::sm {

// What the unit tells the memory stage. Masks are of positions in a chunk.
class LoadStoreListener {
 public:
  virtual ~LoadStoreListener() = default;
  virtual void memory_returned(std::uint16_t issue, unsigned chunk, std::uint32_t mask) = 0;
  virtual void memory_finished(std::uint16_t issue) = 0;  // nothing of this issue is left in the unit
};

class LoadStoreUnit {
 public:
  // `lanes`: that each run a warp of their own, `lane_width` places wide.
  LoadStoreUnit(const machine::SmConfig& config, LoadStoreListener& listener, SystemAccesses& system,
                const SmObservers& observers, unsigned lanes = 0, unsigned lane_width = 0);

  void reset();
  // Between two launches.
  void archive(Archive& archive) { archive(state_, outgoing_, waited_in_, data_, l1c_, l1t_); }
  // Empties the first-level caches that are not kept: a kernel starts with none of the last one's lines
  // there. `shared_option`: what shared memory takes of sm.unified_l1.
  void start_kernel(std::uint64_t parameter_offset, std::uint64_t shared_option = 0);

  bool can_accept() const { return state_.queue.size() + state_.beside < state_.queue.capacity(); }
  // Takes an instruction with the addresses that the executor recorded for the groups of its issue; `times`
  // says when they are known. `waits`: threads wait for its data.
  void accept(std::uint16_t issue, const ptx::Instruction& in, const warp_formation::ThreadGroup* groups,
              const execute::LaneAccess* accesses, unsigned count, bool waits, const datapath::Times& times);

  // One cycle: events, then the head request. Responses and the outgoing channel are the SM's to drive.
  void events(Cycle now) {
    now_ = now;
    state_.wheel.take(now, [this](const Event& event) { handle(event); });
  }
  void step(Cycle now) {
    if (state_.stages.next() <= now) leave_stages(now);
    if (!state_.queue.empty() && state_.busy_until <= now) work_on_head(now);
  }
  Cycle next_event(Cycle now) const;
  bool idle() const {
    return state_.queue.empty() && requests_.live_instructions() == 0 && outgoing_.idle() &&
           !data_.level().has_fetches() && !data_.has_to_flush();
  }

  // To be called once per cycle while the data cache has lines to flush: writes one back if the SM has no
  // block
  // (`resting`).
  void flush(bool resting);

  // A response came back. Fills of the instruction cache are the SM's own.
  void respond(Cycle now, std::uint64_t tag);

  // What keeps the unit from taking another instruction, or would if it were full. Ask after `step`.
  using Hold = sm::Hold;
  Hold hold(Cycle now) const;
  // A response has come; `stages()` gives its stages. If the head request waited for one and goes on now, it
  // waited for this one.
  template <class StagesOf>
  void came_back(Cycle now, StagesOf&& stages) {
    const bool awaited = state_.head.awaits_response() || state_.stages.awaits_response();
    if (awaited || waited_in_.waits_for_division()) waited_in_.came_back(now, stages());
  }

  DataCache& data_cache() { return data_; }
  // Requests that are to leave the SM. When one has: `try_again`.
  OutgoingQueue& outgoing() { return outgoing_; }
  const OutgoingQueue& outgoing() const { return outgoing_; }
  // What was refused may go on now.
  void try_again() {
    state_.head.blocked = false;
    state_.stages.try_again();
  }

  void bind(statistics::Group& group);

 private:
  using Target = MemoryRequests::Target;
  using Request = MemoryRequests::Request;
  using Instruction = MemoryRequests::Instruction;

  static constexpr std::uint32_t kNone = MemoryRequests::kNone;
  struct Event {
    // kPlace: an instruction that was beside the queue has had its banks.
    enum class Kind : std::uint8_t { kRequest, kShared, kPlace } kind = Kind::kRequest;
    std::uint32_t index = 0;
  };
  void handle(const Event& event);
  void give_request(std::uint32_t request);
  void enqueue(std::uint32_t index);
  // False: refused. `again`: not for the first time.
  bool probe(Cycle now, std::uint32_t request, bool again);
  bool probe_cache(Cycle now, std::uint32_t request, FirstLevel& cache, TagKind tag, AccessKind kind,
                   bool again);
  bool probe_system_line(Cycle now, std::uint32_t request, bool again);
  bool look_up(Cycle now, std::uint32_t r, Refusal& refusal);
  bool goes_through_stages(std::uint32_t r) const {
    if (!data_.looks_up_last() || r == kNone) return false;
    const Request& request = requests_.request(r);  // to system memory: in order with loads past the cache
    return request.system == kNone && (request.target == Target::kL1d || request.target == Target::kDirect ||
                                       request.target == Target::kWrite);
  }
  void leave_stages(Cycle now);
  void work_on_head(Cycle now);
  bool send_requests(Cycle now, std::uint32_t index);
  bool send_current(Cycle now, std::uint32_t index);
  void finish_stores(std::uint32_t index);
  void finish_request(std::uint32_t request);
  void return_parts(const Instruction& instruction, std::uint32_t& parts);
  void retire_if_done(std::uint32_t index);
  Hold refusal_of(const Request& request);
  void went_on(Cycle now, Refusal& refusal);
  FirstLevel& level_of(TagKind kind) {
    return kind == TagKind::kL1d ? data_.level() : kind == TagKind::kL1c ? l1c_ : l1t_;
  }

  struct State {
    State(const machine::SmConfig& config, bool looks_up_last)
        : queue(config.memory_queue), stages(config, looks_up_last) {}
    Ring<std::uint32_t> queue;
    CacheStages stages;
    EventWheel<Event> wheel;
    std::uint32_t beside = 0;  // instructions that hold a place of the queue, but need none of what is behind
    Cycle busy_until = 0;      // shared memory works on the head until here
    Refusal head;              // of the queue
    bool flushing = false;     // a line is left to be written back in a cycle to come
    Hold working = Hold::kCoalescer;
    void archive(Archive& archive) {
      auto& [queue_, stages_, wheel_, beside_, busy_until_, head_, flushing_, working_] = *this;
      archive(stages_, at_rest(queue_), at_rest(wheel_), at_rest(beside_), busy_until_, head_.blocked,
              head_.counted, flushing_, head_.since, head_.why, working_);
    }
  };

  const machine::SmConfig& config_;
  LoadStoreListener& listener_;
  SystemAccesses& system_;
  const SmObservers& observers_;
  MemoryRequests requests_;
  OutgoingQueue outgoing_;
  MemoryIntake intake_;
  DataCache data_;
  FirstLevel l1c_, l1t_;
  State state_;
  WaitsByStage waited_in_;
  Cycle now_ = 0;  // of the last `events`

  Cycle went_on_at_ = kNever;  // of several banks: a request was looked up in this cycle
  std::uint64_t request_cycles_ = 0, shared_cycles_ = 0, texture_cycles_ = 0, blocked_cycles_ = 0;
  std::uint64_t bank_conflicts_ = 0;
  std::vector<std::uint64_t> shared_options_;     // sm.unified_l1: in bytes ...
  std::vector<std::uint64_t> kernels_by_option_;  // ... and kernels that got each
};

}  // namespace weft::sm

#endif
