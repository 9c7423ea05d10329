// The load-store unit: coalescer, shared-memory bank conflicts, first-level caches, and the queues to the
// crossbar.
//
// Time only: what loads and stores do to registers and memory has happened at issue (executor.h). Memory
// instructions are taken in order, one request per cycle; a request that cannot go on (no MSHR, no way, no
// place in the miss queue) holds up those behind it until a response comes or the queue moves.
#ifndef WEFT_SM_LOAD_STORE_UNIT_H
#define WEFT_SM_LOAD_STORE_UNIT_H

#include <cstdint>
#include <string>
#include <vector>

#include "cache/mshr_table.h"
#include "cache/tag_array.h"
#include "common/clock_domain.h"
#include "common/memory_transaction.h"
#include "common/ring.h"
#include "common/statistics.h"
#include "sm/event_wheel.h"
#include "sm/executor.h"
#include "sm/shared_banks.h"
#include "sm/sm_config.h"

namespace weft::sm {

// A request on its way out of the SM.
struct OutgoingRequest {
  tlm::tlm_command command = tlm::TLM_READ_COMMAND;
  AccessKind kind = AccessKind::kRead;
  std::uint16_t atomic_lanes = 0;
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;             // in device memory, or of system memory + kSystemSpace
  std::uint64_t tag = 0;                 // comes back with the response
  std::uint32_t access = kDeviceMemory;  // system memory: LoadStoreListener::open_system

  static constexpr std::uint32_t kDeviceMemory = UINT32_MAX;
};

// What the unit tells the SM. Masks are of positions in a chunk.
class LoadStoreListener {
 public:
  virtual ~LoadStoreListener() = default;
  virtual void memory_probed(std::uint16_t issue, const warp_formation::ThreadGroup* hits,
                             unsigned count) = 0;
  virtual void memory_returned(std::uint16_t issue, unsigned chunk, std::uint32_t mask) = 0;
  virtual void memory_finished(std::uint16_t issue) = 0;  // nothing of this issue is left in the unit
  // A request to system memory, for this lane and perhaps others of the access: its handle.
  virtual std::uint32_t open_system(std::uint16_t issue, const LaneAccess& access, unsigned lane) = 0;
  virtual void close_system(std::uint32_t access) = 0;  // none was sent
};

class LoadStoreUnit {
 public:
  LoadStoreUnit(const Config& config, LoadStoreListener& listener);

  void reset();
  // Empties the first-level caches: a kernel starts with none of the last one's lines.
  void start_kernel(std::uint64_t parameter_offset, bool report_probes);

  bool can_accept() const { return !queue_.full(); }
  // Takes an instruction with the addresses that the executor recorded. `waits`: threads wait for its data.
  void accept(std::uint16_t issue, const ptx::Instruction& in, const LaneAccess* accesses, unsigned count,
              bool waits);

  // One cycle: events, then the head request. Responses and the outgoing channel are the SM's to drive.
  void events(Cycle now);
  void step(Cycle now);
  Cycle next_event(Cycle now) const;
  bool idle() const {
    return queue_.empty() && live_instructions_ == 0 && outgoing_.empty() && writes_in_flight_ == 0;
  }

  // A response came back. Instruction-cache fills are the SM's own (see `is_instruction_fill`).
  void respond(Cycle now, std::uint64_t tag, std::uint64_t address);
  static bool is_instruction_fill(std::uint64_t tag) { return kind_of(tag) == Tag::kL1i; }

  Ring<OutgoingRequest>& outgoing() { return outgoing_; }
  void sent() { blocked_ = false; }
  // Queues an instruction-cache miss; the caller has checked that there is room.
  void fetch_instructions(std::uint64_t address, std::uint32_t bytes);

  void bind(statistics::Registry& registry, const std::string& prefix);
  std::uint64_t data_requests() const { return data_requests_; }
  std::uint64_t memory_thread_instructions() const { return memory_threads_; }

 private:
  enum class Target : std::uint8_t { kL1d, kL1c, kL1t, kDirect, kWrite, kAtomic };
  enum class Tag : std::uint8_t { kL1d, kL1c, kL1t, kL1i, kRequest, kWrite };
  static std::uint64_t tag_of(Tag kind, std::uint64_t value) {
    return std::uint64_t{static_cast<std::uint8_t>(kind)} << 56 | value;
  }
  static Tag kind_of(std::uint64_t tag) { return static_cast<Tag>(tag >> 56); }

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
    std::uint16_t low = 0, high = 0;  // bytes touched within the block
    std::uint16_t lanes = 0;
    Target target = Target::kL1d;
    bool hit = false;
    bool exact = false;  // reads the bytes touched only
  };
  struct Instruction {
    std::uint16_t issue = 0;
    bool waits = false, live = false;
    bool together = false;  // a thread is in several requests: all threads return at the end
    bool texture = false;   // goes through the texture unit
    bool surface = false;
    std::uint32_t first = kNone;    // requests in order of their first lane
    std::uint32_t current = kNone;  // the next to be probed
    std::uint32_t outstanding = 0;  // requests (and the shared access) not yet returned
    std::uint32_t shared_cycles =
        0;  // bank-conflict degree, summed over the passes; 1 for lanes without memory
    std::uint32_t setup_cycles = 0;  // texture unit: until the first texel has an address
    std::uint32_t shared_parts =
        kNone;  // threads of the shared access; with `together`, all that have returned
  };
  struct Event {
    enum class Kind : std::uint8_t { kRequest, kShared } kind = Kind::kRequest;
    std::uint32_t index = 0;
  };
  struct FirstLevel {
    explicit FirstLevel(const CacheConfig& c);
    const CacheConfig& config;
    cache::TagArray tags;
    cache::MshrTable mshrs;
  };

  void coalesce(std::uint32_t instruction, const ptx::Instruction& in, const LaneAccess& access,
                std::uint64_t origin);
  Target target_of(const ptx::Instruction& in, const LaneAccess& access) const;
  void coalesce_staged(std::uint32_t instruction, const LaneAccess& access, Target target);
  void give_request(std::uint32_t request);
  std::uint32_t find_or_add(std::uint32_t instruction, std::uint64_t block, Target target,
                            std::uint32_t window_start);
  void add_part(std::uint32_t& list, unsigned chunk, std::uint32_t mask);
  void accept_texture(std::uint32_t index, const LaneAccess* accesses, unsigned count);
  void accept_without_memory(std::uint32_t index, const LaneAccess& access);
  Cycle filter_latency(std::uint32_t request) const;
  Cycle unit_latency(const Instruction& instruction) const;
  bool probe(Cycle now, std::uint32_t request);
  bool probe_cache(Cycle now, std::uint32_t request, FirstLevel& cache, Tag tag, AccessKind kind);
  void report_probes(const Instruction& instruction);
  void finish_request(std::uint32_t request);
  void return_parts(const Instruction& instruction, std::uint32_t& parts);
  void retire_if_done(std::uint32_t index);
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

  const Config& config_;
  LoadStoreListener& listener_;
  FirstLevel l1d_, l1c_, l1t_;
  Pool<Part> parts_;
  Pool<Request> requests_;
  Pool<Instruction> instructions_;
  Ring<std::uint32_t> queue_;
  Ring<OutgoingRequest> outgoing_;
  EventWheel<Event> wheel_;
  SharedBanks banks_;
  std::vector<warp_formation::ThreadGroup> hits_;
  Cycle busy_until_ = 0;  // shared memory works on the head until here
  bool blocked_ = false;
  bool counted_refusal_ = false;
  Cycle blocked_since_ = 0;
  bool report_probes_ = false;
  std::uint64_t parameter_offset_ = 0;
  std::uint32_t live_instructions_ = 0;
  std::uint32_t writes_in_flight_ = 0;
  unsigned block_shift_ = 7, texture_shift_ = 7;

  std::uint64_t memory_threads_ = 0, data_requests_ = 0, read_requests_ = 0, write_requests_ = 0,
                atomic_requests_ = 0;
  std::uint64_t texture_fetches_ = 0, texture_texels_ = 0;
  std::uint64_t shared_accesses_ = 0, shared_conflict_cycles_ = 0, blocked_cycles_ = 0, bytes_out_ = 0;
  std::vector<std::uint64_t> conflict_histogram_;
};

}  // namespace weft::sm

#endif
