// The load-store unit: coalescer, shared-memory bank conflicts, first-level caches, and the queues to the
// crossbar.
//
// Time only: what loads and stores do to registers and device memory has happened at issue (executor.h); for
// system memory the unit says when requests go, and SystemAccesses moves the bytes. Memory
// instructions are taken in the order in which their addresses become known, one request per cycle; a request
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
#include "bus/memory_transaction.h"
#include "cache/mshr_table.h"
#include "cache/tag_array.h"
#include "common/ring.h"
#include "execute/executor.h"
#include "sm/carried_bytes.h"
#include "sm/event_wheel.h"
#include "sm/lane_calendar.h"
#include "sm/shared_banks.h"
#include "sm/sm_observer.h"
#include "sm/system_lines.h"
#include "sm/waits_by_stage.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/sm/sm_config.h"

namespace weft::sm {

// A request on its way out of the SM.
struct OutgoingRequest {
  tlm::tlm_command command = tlm::TLM_READ_COMMAND;
  AccessKind kind = AccessKind::kRead;
  std::uint16_t atomic_lanes = 0;
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;             // in device memory, or of system memory + kSystemSpace
  std::uint64_t tag = 0;                 // comes back with the response
  std::uint32_t access = kDeviceMemory;  // system memory: SystemAccesses::open
  std::uint32_t carried = kNothing;      // a write that is looked at: LoadStoreUnit::carried

  static constexpr std::uint32_t kDeviceMemory = UINT32_MAX, kNothing = CarriedBytes::kNone;
};

// What the unit tells the SM. Masks are of positions in a chunk.
class LoadStoreListener {
 public:
  virtual ~LoadStoreListener() = default;
  virtual void memory_returned(std::uint16_t issue, unsigned chunk, std::uint32_t mask) = 0;
  virtual void memory_finished(std::uint16_t issue) = 0;  // nothing of this issue is left in the unit
};

// Who moves the bytes of accesses to system memory; the unit says when.
class SystemAccesses {
 public:
  virtual ~SystemAccesses() = default;
  // A request to the block of system memory at `block`: its handle. Then, which lanes take part in it.
  virtual std::uint32_t open(std::uint16_t issue, std::uint64_t block) = 0;
  virtual void join(std::uint32_t handle, const execute::LaneAccess& access, std::uint32_t lanes) = 0;
  // False: it may not be looked up before others are done, which a response tells.
  virtual bool can_start(std::uint32_t handle) const = 0;
  virtual void started(std::uint32_t handle) = 0;  // from now on others wait for it
  // A load gets the bytes of its block, from a cache.
  virtual void fill(std::uint32_t handle, const std::uint8_t* bytes) = 0;
  virtual void close(std::uint32_t handle) = 0;  // no transaction of it comes back any more
};

class LoadStoreUnit {
 public:
  // `lanes`: that each run a warp of their own, `lane_width` places wide.
  LoadStoreUnit(const Config& config, LoadStoreListener& listener, SystemAccesses& system,
                const SmObservers& observers, unsigned lanes = 0, unsigned lane_width = 0);

  void reset();
  // Between two launches.
  void archive(Archive& archive) { archive(state_, waited_in_, l1d_, l1c_, l1t_); }
  // Empties the first-level caches that are not kept: a kernel starts with none of the last one's lines
  // there.
  void start_kernel(std::uint64_t parameter_offset);
  // From now on writes to device memory keep a copy of their bytes in `image` (`carried`); nullptr: no more.
  void carry(const std::uint8_t* image) { image_ = image; }

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
    return state_.queue.empty() && state_.live_instructions == 0 && state_.outgoing.empty() &&
           state_.writes_in_flight == 0 && !has_to_flush();
  }

  // Lines are dirty that must be written back before the kernel is done: so `flush` is called once per cycle,
  // which writes one if the SM has no block (`resting`).
  bool has_to_flush() const { return flushes_ && l1d_.tags.dirty_lines() != 0; }
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

  Ring<OutgoingRequest>& outgoing() { return state_.outgoing; }
  const Ring<OutgoingRequest>& outgoing() const { return state_.outgoing; }
  void sent() { state_.head.blocked = state_.exit.blocked = false; }
  // Of an outgoing write, until it is dropped.
  const std::uint8_t* carried(const OutgoingRequest& request) const { return carried_.of(request.carried); }
  void drop_carried(const OutgoingRequest& request) { carried_.give(request.carried); }
  // Queues an instruction-cache miss; the caller has checked that there is room.
  void fetch_instructions(std::uint64_t address, std::uint32_t bytes);

  void bind(statistics::Group& group);

 private:
  enum class Target : std::uint8_t { kL1d, kL1c, kL1t, kDirect, kWrite, kAtomic };
  // kL1dAlone: a fetch of one request, which its MSHR is known by; the others are known by the line.
  enum class Tag : std::uint8_t { kL1d, kL1c, kL1t, kL1i, kRequest, kWrite, kL1dAlone };
  static std::uint64_t tag_of(Tag kind, std::uint64_t value) {
    return std::uint64_t{static_cast<std::uint8_t>(kind)} << 56 | value;
  }
  static Tag kind_of(std::uint64_t tag) { return static_cast<Tag>(tag >> 56); }
  static constexpr std::uint64_t kValueOfTag = (std::uint64_t{1} << 56) - 1;

  static constexpr std::uint32_t kNone = UINT32_MAX;
  // Threads of one chunk that one request serves.
  struct Part {
    std::uint32_t mask = 0;
    std::uint32_t next = kNone;
    std::uint16_t chunk = 0;
  };
  struct Request {
    std::uint64_t block = 0;     // device-memory address of the coalescing block
    std::uint32_t next = kNone;  // of the same instruction
    std::uint32_t parts = kNone;
    std::uint32_t instruction = 0;
    std::uint32_t system = kNone;     // of system memory: the handle of the access
    std::uint64_t window = 0;         // ... and the first address of its window
    std::uint32_t carried = kNone;    // a write's bytes as of its issue
    std::uint16_t low = 0, high = 0;  // bytes touched within the block
    std::uint16_t lanes = 0;
    Target target = Target::kL1d;
  };
  struct Instruction {
    std::uint16_t issue = 0;
    bool waits = false, live = false;
    bool together = false;  // a thread is in several requests: all threads return at the end
    bool texture = false;   // goes through the texture unit
    bool surface = false;
    std::uint32_t first = kNone;    // requests in order of their first lane
    std::uint32_t current = kNone;  // the next to be probed
    Cycle addresses = 0;            // known in this cycle, worked on from the next
    std::uint32_t outstanding = 0;  // requests (and the shared access) not yet returned
    std::uint32_t shared_cycles =
        0;  // bank-conflict degree, summed over the passes; 1 for lanes without memory
    std::uint32_t setup_cycles = 0;  // texture unit: until the first texel has an address
    std::uint32_t shared_parts =
        kNone;  // threads of the shared access; with `together`, all that have returned
  };
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
  struct FirstLevel {
    explicit FirstLevel(const KernelCacheConfig& c);
    const KernelCacheConfig& config;
    cache::TagArray tags;
    cache::MshrTable mshrs;
    Cycle full_since = kNever;  // every MSHR is in use
    std::uint64_t full_cycles = 0;
    void archive(Archive& archive) {
      auto& [config_, tags_, mshrs_, full_since_, full_cycles_] = *this;
      archive(set_anew(config_), tags_, mshrs_, full_since_, full_cycles_);
    }
  };

  // So far.
  SmObserver::Requests accepted() const {
    return {memory_threads_, coalesced_requests_, shared_accesses_, shared_conflict_cycles_};
  }
  void handle(const Event& event);
  void coalesce_all(std::uint32_t index, const ptx::Instruction& in,
                    const warp_formation::ThreadGroup* groups, const execute::LaneAccess* accesses,
                    unsigned count, const datapath::Times& times);
  void coalesce_by_places(std::uint32_t instruction, const ptx::Instruction& in,
                          const warp_formation::ThreadGroup* groups, const execute::LaneAccess* accesses,
                          unsigned count);
  std::uint32_t coalesce(std::uint32_t instruction, const ptx::Instruction& in,
                         const execute::LaneAccess& access, std::uint32_t lanes, std::uint32_t window);
  Target target_of(const ptx::Instruction& in, const execute::LaneAccess& access) const;
  unsigned block_shift_of(const ptx::Instruction& in, const execute::LaneAccess& access, Target target) const;
  std::uint32_t coalesce_system(std::uint32_t instruction, const ptx::Instruction& in,
                                const execute::LaneAccess& access, std::uint32_t lanes, std::uint32_t start);
  Target system_target_of(const ptx::Instruction& in, const execute::LaneAccess& access,
                          std::uint64_t block) const;
  void carry_writes(std::uint32_t instruction);
  void give_request(std::uint32_t request);
  std::uint32_t find_or_add(std::uint32_t instruction, std::uint64_t block, Target target,
                            std::uint32_t start, std::uint64_t window = 0);
  void add_part(std::uint32_t& list, unsigned chunk, std::uint32_t mask);
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
    const Request& request = state_.requests[r];  // to system memory: in order with loads past the cache
    return request.system == kNone && (request.target == Target::kL1d || request.target == Target::kWrite);
  }
  void leave_stages(Cycle now);
  bool send_current(Cycle now, std::uint32_t index);
  void finish_stores(std::uint32_t index);
  bool probe_past_l1(std::uint32_t request);
  bool probe_write(std::uint32_t request);
  bool absorb(const Request& request);
  bool has_room(std::size_t requests) const {
    return state_.outgoing.capacity() - state_.outgoing.size() >= requests;
  }
  bool is_dirty(cache::Line line) const {
    return l1d_.tags.dirty_lines() != 0 && l1d_.tags.find(line) == cache::LineState::kDirty;
  }
  void write_back(cache::Line line);
  void finish_request(std::uint32_t request);
  void return_parts(const Instruction& instruction, std::uint32_t& parts);
  void retire_if_done(std::uint32_t index);
  Hold refusal_of(const Request& request);
  void went_on(Cycle now, Refusal& refusal);
  static void count_full(FirstLevel& level, Cycle now);
  FirstLevel& cache_of(Tag tag) { return tag == Tag::kL1d ? l1d_ : tag == Tag::kL1c ? l1c_ : l1t_; }

  template <class T>
  struct Pool {
    std::vector<T> items;
    std::vector<std::uint32_t> free;
    std::uint32_t take() {
      if (free.empty()) {
        items.emplace_back();
        return static_cast<std::uint32_t>(items.size() - 1);
      }
      const std::uint32_t i = free.back();
      free.pop_back();
      items[i] = T();
      return i;
    }
    void give(std::uint32_t i) { free.push_back(i); }
    void clear() {
      items.clear();
      free.clear();
    }
    T& operator[](std::uint32_t i) { return items[i]; }
    const T& operator[](std::uint32_t i) const { return items[i]; }
  };

  struct State {
    State(const Config& config, bool looks_up_last)
        : queue(config.memory_queue),
          outgoing(config.miss_queue),
          staged(looks_up_last ? config.l1d.latency : 0) {}
    Pool<Part> parts;
    Pool<Request> requests;
    Pool<Instruction> instructions;
    Ring<std::uint32_t> queue;
    Ring<OutgoingRequest> outgoing;
    Ring<Staged> staged;
    EventWheel<Event> wheel;
    std::uint32_t beside = 0;  // instructions that hold a place of the queue, but need none of what is behind
    Cycle busy_until = 0;      // shared memory works on the head until here
    Refusal head, exit;        // of the queue, of the stages
    bool flushing = false;     // a line is left to be written back in a cycle to come
    Hold working = Hold::kCoalescer;
    std::uint64_t parameter_offset = 0;
    std::uint32_t live_instructions = 0;
    std::uint32_t writes_in_flight = 0;
    void archive(Archive& archive) {
      auto& [parts_, requests_, instructions_, queue_, outgoing_, staged_, wheel_, beside_, busy_until_,
             head_, exit_, flushing_, working_, parameter_offset_, live_instructions_, writes_in_flight_] =
          *this;
      // Of records that are free nothing depends on which is taken.
      archive(set_anew(parts_, requests_, instructions_, parameter_offset_, exit_), at_rest(queue_),
              at_rest(outgoing_), at_rest(staged_), at_rest(wheel_), at_rest(beside_), busy_until_,
              head_.blocked, head_.counted, flushing_, head_.since, head_.why, working_,
              at_rest(live_instructions_), at_rest(writes_in_flight_));
    }
  };

  const Config& config_;
  LoadStoreListener& listener_;
  SystemAccesses& system_;
  const SmObservers& observers_;
  FirstLevel l1d_, l1c_, l1t_;
  SystemLines system_lines_;  // of l1d_
  SharedBanks banks_;
  LaneCalendar calendar_;
  const Places places_;
  const unsigned coalesced_places_;   // together; 0: all of an issue
  const bool writes_back_, flushes_;  // ... at the end of a kernel
  const bool looks_up_last_;
  State state_;
  WaitsByStage waited_in_;
  CarriedBytes carried_;
  const std::uint8_t* image_ = nullptr;  // whose bytes are carried
  Cycle now_ = 0;                        // of the last `events`
  unsigned block_shift_ = 7, texture_shift_ = 7, constant_shift_ = 2;

  std::uint64_t memory_threads_ = 0, data_requests_ = 0, read_requests_ = 0, write_requests_ = 0,
                atomic_requests_ = 0;
  std::uint64_t coalesced_requests_ = 0, stores_absorbed_ = 0, write_backs_ = 0, store_hits_ = 0;
  std::uint64_t request_cycles_ = 0, shared_cycles_ = 0, texture_cycles_ = 0;
  std::uint64_t texture_fetches_ = 0, texture_texels_ = 0;
  std::uint64_t shared_accesses_ = 0, shared_conflict_cycles_ = 0, blocked_cycles_ = 0, bytes_out_ = 0;
  std::vector<std::uint64_t> conflict_histogram_;
};

}  // namespace weft::sm

#endif
