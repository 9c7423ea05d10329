// The load-store unit: coalescer, shared-memory bank conflicts, first-level caches, and the queues to the
// crossbar.
//
// Time only: what loads and stores do to registers and device memory has happened at issue (executor.h); for
// system memory the unit says when requests go, and SystemAccesses moves the bytes. Memory instructions are
// taken in the order in which their addresses become known, one request per cycle; a request
// that cannot go on (no MSHR, no way, no place in the miss queue) holds up those behind it until a response
// comes or the queue moves. Lanes that each run a warp of their own give the addresses of an instruction
// group by group: its words in shared memory take the banks then (lane_calendar.h), its requests wait for the
// last.
//
// With `l1d.lookup` = `last`, loads and stores of the data cache first go through stages, as many as its
// latency, and are looked up at their end, one per cycle and in order.
#ifndef WEFT_SM_LOAD_STORE_UNIT_H
#define WEFT_SM_LOAD_STORE_UNIT_H

#include <cstdint>
#include <string>
#include <vector>

#include "bus/clock_domain.h"
#include "common/ring.h"
#include "execute/executor.h"
#include "sm/coalescer.h"
#include "sm/event_wheel.h"
#include "sm/first_level.h"
#include "sm/lane_calendar.h"
#include "sm/memory_requests.h"
#include "sm/outgoing_queue.h"
#include "sm/shared_banks.h"
#include "sm/sm_observer.h"
#include "sm/system_accesses.h"
#include "sm/system_lines.h"
#include "sm/waits_by_stage.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/sm/sm_config.h"

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
  LoadStoreUnit(const Config& config, LoadStoreListener& listener, SystemAccesses& system,
                const SmObservers& observers, unsigned lanes = 0, unsigned lane_width = 0);

  void reset();
  // Between two launches.
  void archive(Archive& archive) { archive(state_, outgoing_, waited_in_, l1d_, l1c_, l1t_); }
  // Empties the first-level caches that are not kept: a kernel starts with none of the last one's lines
  // there.
  void start_kernel(std::uint64_t parameter_offset);
  // From now on writes to device memory keep a copy of their bytes in `image` (`carried`); nullptr: no more.
  void carry(const std::uint8_t* image) { outgoing_.carry(image); }

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
  void step(Cycle now);
  Cycle next_event(Cycle now) const;
  bool idle() const {
    return state_.queue.empty() && requests_.live_instructions() == 0 && outgoing_.idle() && !has_to_flush();
  }

  // Lines are dirty that must be written back before the kernel is done: so `flush` is called once per cycle,
  // which writes one if the SM has no block (`resting`).
  bool has_to_flush() const { return flushes_ && l1d_.tags().dirty_lines() != 0; }
  void flush(bool resting);

  // The bytes of a line of system memory have come, and its response will. Not a line: returns false.
  bool take_line(std::uint64_t tag, const std::uint8_t* bytes);
  // A write to system memory is done, from its `address` on: cached bytes change alike.
  void update_system_lines(std::uint64_t address, const tlm::tlm_generic_payload& write);
  // Cached bytes of system memory from `first` to `last` (+ kSystemSpace) are not valid any more; or all are
  // not.
  void drop_system_lines(std::uint64_t first, std::uint64_t last);
  void drop_system_lines() { system_lines_.drop_all(); }

  // A response came back. Instruction-cache fills are the SM's own (see `is_instruction_fill`).
  void respond(Cycle now, std::uint64_t tag, std::uint64_t address);
  static bool is_instruction_fill(std::uint64_t tag) { return kind_of(tag) == Tag::kL1i; }

  // What keeps the unit from taking another instruction, or would if it were full. Ask after `step`.
  enum class Hold : std::uint8_t { kPort, kCoalescer, kSharedMemory, kTexture, kMshr, kWays, kMissQueue };
  Hold hold(Cycle now) const;
  // A response has come, with these stages. If the head request waited for one and goes on now, it waited for
  // this one.
  bool wants_stages() const {
    return waited_in_.waits_for_division() || state_.head.awaits_response() || state_.exit.awaits_response();
  }
  void came_back(Cycle now, const Stages& stages) { waited_in_.came_back(now, stages); }

  // Requests that are to leave the SM; `sent`: one has.
  OutgoingQueue& outgoing() { return outgoing_; }
  const OutgoingQueue& outgoing() const { return outgoing_; }
  void sent() { state_.head.blocked = state_.exit.blocked = false; }
  // Queues an instruction-cache miss; the caller has checked that there is room.
  void fetch_instructions(std::uint64_t address, std::uint32_t bytes);

  void bind(statistics::Group& group);

 private:
  using Target = MemoryRequests::Target;
  using Request = MemoryRequests::Request;
  using Instruction = MemoryRequests::Instruction;
  // kL1dAlone: a fetch of one request, which its MSHR is known by; the others are known by the line.
  enum class Tag : std::uint8_t { kL1d, kL1c, kL1t, kL1i, kRequest, kWrite, kL1dAlone };
  static std::uint64_t tag_of(Tag kind, std::uint64_t value) {
    return std::uint64_t{static_cast<std::uint8_t>(kind)} << 56 | value;
  }
  static Tag kind_of(std::uint64_t tag) { return static_cast<Tag>(tag >> 56); }
  static constexpr std::uint64_t kValueOfTag = (std::uint64_t{1} << 56) - 1;

  static constexpr std::uint32_t kNone = MemoryRequests::kNone;
  struct Event {
    // kPlace: an instruction that was beside the queue has had its banks.
    enum class Kind : std::uint8_t { kRequest, kShared, kPlace } kind = Kind::kRequest;
    std::uint32_t index = 0;
  };
  // Of the request that is next to be looked up: it was refused.
  struct Refusal {
    bool blocked = false;  // nothing has changed since
    bool counted = false;
    Hold why = Hold::kMissQueue;
    Cycle since = 0;
    bool awaits_response() const { return counted && (why == Hold::kMshr || why == Hold::kWays); }
  };
  // In the stages before the data cache.
  struct Staged {
    std::uint32_t request = 0;
    Cycle ready = 0;  // at the end of the stages
  };
  // So far.
  SmObserver::Requests accepted() const {
    return {coalescer_.threads(), coalescer_.requests(), shared_accesses_, shared_conflict_cycles_};
  }
  void handle(const Event& event);
  void accept_all(std::uint32_t index, const ptx::Instruction& in, const warp_formation::ThreadGroup* groups,
                  const execute::LaneAccess* accesses, unsigned count, const datapath::Times& times);
  void accept_shared(std::uint32_t index, const LaneWork& work, const ptx::Instruction& in,
                     const warp_formation::ThreadGroup* groups, bool beside);
  void carry_writes(std::uint32_t instruction);
  void give_request(std::uint32_t request);
  void take_banks(std::uint32_t index, std::uint32_t cycles);
  void take_banks_in_turn(std::uint32_t index, const LaneWork& work, bool atomic, bool beside);
  void enqueue(std::uint32_t index);
  void accept_texture(std::uint32_t index, const LaneWork& work);
  void accept_without_memory(std::uint32_t index, const execute::LaneAccess& access);
  Cycle filter_latency(std::uint32_t request) const;
  Cycle unit_latency(const Instruction& instruction) const;
  // False: refused. `again`: not for the first time.
  bool probe(Cycle now, std::uint32_t request, bool again);
  bool probe_cache(Cycle now, std::uint32_t request, FirstLevel& cache, Tag tag, AccessKind kind, bool again);
  bool probe_system_line(Cycle now, std::uint32_t request, bool again);
  void fill_from_line(std::uint32_t request);
  bool look_up(Cycle now, std::uint32_t r, Refusal& refusal);
  bool goes_through_stages(std::uint32_t r) const {
    if (!looks_up_last_ || r == kNone) return false;
    const Request& request = requests_.request(r);  // to system memory: in order with loads past the cache
    return request.system == kNone && (request.target == Target::kL1d || request.target == Target::kWrite);
  }
  void leave_stages(Cycle now);
  bool send_current(Cycle now, std::uint32_t index);
  void finish_stores(std::uint32_t index);
  bool probe_past_l1(std::uint32_t request);
  bool probe_write(std::uint32_t request);
  bool absorb(const Request& request);
  bool is_dirty(cache::Line line) const {
    return l1d_.tags().dirty_lines() != 0 && l1d_.tags().find(line) == cache::LineState::kDirty;
  }
  void write_back(cache::Line line);
  void finish_request(std::uint32_t request);
  void return_parts(const Instruction& instruction, std::uint32_t& parts);
  void retire_if_done(std::uint32_t index);
  Hold refusal_of(const Request& request);
  void went_on(Cycle now, Refusal& refusal);
  FirstLevel& cache_of(Tag tag) { return tag == Tag::kL1d ? l1d_ : tag == Tag::kL1c ? l1c_ : l1t_; }

  struct State {
    State(const Config& config, bool looks_up_last)
        : queue(config.memory_queue), staged(looks_up_last ? config.l1d.latency : 0) {}
    Ring<std::uint32_t> queue;
    Ring<Staged> staged;
    EventWheel<Event> wheel;
    std::uint32_t beside = 0;  // instructions that hold a place of the queue, but need none of what is behind
    Cycle busy_until = 0;      // shared memory works on the head until here
    Refusal head, exit;        // of the queue, of the stages
    bool flushing = false;     // a line is left to be written back in a cycle to come
    Hold working = Hold::kCoalescer;
    void archive(Archive& archive) {
      auto& [queue_, staged_, wheel_, beside_, busy_until_, head_, exit_, flushing_, working_] = *this;
      archive(set_anew(exit_), at_rest(queue_), at_rest(staged_), at_rest(wheel_), at_rest(beside_),
              busy_until_, head_.blocked, head_.counted, flushing_, head_.since, head_.why, working_);
    }
  };

  const Config& config_;
  LoadStoreListener& listener_;
  SystemAccesses& system_;
  const SmObservers& observers_;
  MemoryRequests requests_;
  Coalescer coalescer_;
  FirstLevel l1d_, l1c_, l1t_;
  OutgoingQueue outgoing_;
  SystemLines system_lines_;  // of l1d_
  SharedBanks banks_;
  LaneCalendar calendar_;
  const bool writes_back_, flushes_;  // ... at the end of a kernel
  const bool looks_up_last_;
  State state_;
  WaitsByStage waited_in_;
  Cycle now_ = 0;  // of the last `events`

  std::uint64_t stores_absorbed_ = 0, store_hits_ = 0;
  std::uint64_t request_cycles_ = 0, shared_cycles_ = 0, texture_cycles_ = 0;
  std::uint64_t texture_fetches_ = 0, texture_texels_ = 0;
  std::uint64_t shared_accesses_ = 0, shared_conflict_cycles_ = 0, blocked_cycles_ = 0;
  std::vector<std::uint64_t> conflict_histogram_;
};

}  // namespace weft::sm

#endif
