// The memory instructions that an SM's load-store unit works on, and the requests that they are made of.
#ifndef WEFT_SM_MEMORY_REQUESTS_H
#define WEFT_SM_MEMORY_REQUESTS_H

#include <cstdint>
#include <vector>

#include "bus/clock_domain.h"

namespace weft::sm {

class MemoryRequests {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  enum class Target : std::uint8_t { kL1d, kL1c, kL1t, kDirect, kWrite, kAtomic };

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
    std::uint32_t system = kNone;   // of system memory: the handle of the access
    std::uint64_t window = 0;       // ... and the first address of its window
    std::uint32_t carried = kNone;  // a write's bytes as of its issue
    std::uint64_t written = 0;      // of a write, one bit per byte of the block, if the cache has byte masks
    std::uint16_t low = 0, high = 0;  // bytes touched within the block
    std::uint16_t lanes = 0;
    Target target = Target::kL1d;
  };
  struct Instruction {
    std::uint16_t issue = 0;
    bool waits = false, live = false;
    bool together = false;             // a thread is in several requests: all threads return at the end
    bool texture = false;              // goes through the texture unit
    std::uint32_t unit_latency = 0;    // of words of shared memory, and of threads without a place in memory
    std::uint32_t filter_latency = 0;  // what the texture unit adds after the data of a request
    std::uint32_t first = kNone;       // requests in order of their first lane
    std::uint32_t current = kNone;     // the next to be probed
    Cycle addresses = 0;               // known in this cycle, worked on from the next
    std::uint32_t outstanding = 0;     // requests (and the shared access) not yet returned
    std::uint32_t shared_cycles = 0;   // bank-conflict degree, summed over the passes; 1 for lanes without
                                       // memory
    std::uint32_t shared_passes = 1;   // over the banks that `unit_latency` has in it
    std::uint32_t setup_cycles = 0;    // texture unit: until the first texel has an address
    std::uint32_t shared_parts =
        kNone;  // threads of the shared access; with `together`, all that have returned
  };

  Instruction& instruction(std::uint32_t index) { return instructions_[index]; }
  const Instruction& instruction(std::uint32_t index) const { return instructions_[index]; }
  Request& request(std::uint32_t r) { return requests_[r]; }
  const Request& request(std::uint32_t r) const { return requests_[r]; }
  Instruction& owner(std::uint32_t r) { return instructions_[requests_[r].instruction]; }
  const Instruction& owner(std::uint32_t r) const { return instructions_[requests_[r].instruction]; }

  std::uint32_t add_instruction() {
    ++live_;
    return instructions_.take();
  }
  // Its requests have been given back.
  void give_instruction(std::uint32_t index) {
    instructions_[index].live = false;
    instructions_.give(index);
    --live_;
  }
  std::uint32_t live_instructions() const { return live_; }

  // The request for `block` among those from `start` on (kNone: there are none yet), or a new one at the end
  // of the instruction's list. `made`: it is new.
  std::uint32_t find_or_add(std::uint32_t instruction, std::uint64_t block, Target target,
                            std::uint32_t start, std::uint64_t window, bool& made);
  void give_request(std::uint32_t r) { requests_.give(r); }

  // These threads of a chunk are in the list of parts.
  void add_part(std::uint32_t& list, unsigned chunk, std::uint32_t mask);
  // Empties the list: calls visit(part) for each.
  template <class Visit>
  void take_parts(std::uint32_t& list, Visit&& visit) {
    while (list != kNone) {
      const std::uint32_t p = list;
      const Part part = parts_[p];
      list = part.next;
      parts_.give(p);
      visit(part);
    }
  }

 private:
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
    T& operator[](std::uint32_t i) { return items[i]; }
    const T& operator[](std::uint32_t i) const { return items[i]; }
  };

  Pool<Part> parts_;
  Pool<Request> requests_;
  Pool<Instruction> instructions_;
  std::uint32_t live_ = 0;  // instructions
};

}  // namespace weft::sm

#endif
