// Copies between any two places of device and system memory, in simulated time.
//
//   engine.copy({from, to, bytes, [](const DmaEngine::Outcome& outcome) { ... }});
//
// Copies begin in the order in which they were asked for. A copy is cut into pieces of at most a burst; each
// takes one of `dma_slots` slots from the begin of its read to the end of its write, so reads and writes of
// one copy, and the end of one copy and the begin of the next, overlap. Bytes change as their writes
// complete.
#ifndef WEFT_HOST_DMA_ENGINE_H
#define WEFT_HOST_DMA_ENGINE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "common/clock_domain.h"
#include "common/statistics.h"
#include "host/bus.h"

namespace weft::host {

class DmaEngine final : private TransferClient {
 public:
  struct Outcome {
    bool done = true;                  // false: the bus refused an access; some bytes may have been copied
    std::uint64_t failed_address = 0;  // ... of this
  };
  struct Copy {
    std::uint64_t from = 0, to = 0, bytes = 0;
    // Called once, in a step of the engine; not if it is reset before. May ask for further copies.
    std::function<void(const Outcome&)> done;
  };

  DmaEngine(const Config& config, Bus& bus, ClockDomain& domain);
  void set_index(std::size_t index) { index_ = index; }

  // The ranges must not overlap: which bytes are read then is not defined.
  void copy(Copy copy);
  Cycle step(Cycle now);
  // Forgets all copies. After the bus masters' resets.
  void reset();
  bool idle() const { return jobs_.empty(); }
  void bind(statistics::Registry& registry, const std::string& prefix);

 private:
  struct Job {
    Copy copy;
    Outcome outcome;
    std::uint64_t begun = 0;  // bytes
    unsigned open = 0;        // slots
    bool told = false;
  };
  struct Slot {
    Transfer transfer;
    std::vector<unsigned char> buffer;
    Job* job = nullptr;
    std::uint64_t to = 0;
    bool writing = false;
  };

  void transferred(Transfer& transfer) override;
  void begin_piece(Job& job);

  const std::uint64_t burst_bytes_;
  Bus& bus_;
  ClockDomain& domain_;
  std::size_t index_ = 0;
  std::deque<Job> jobs_;  // slots refer to them: only its ends change
  std::vector<Slot> slots_;
  std::vector<Slot*> free_;
  std::uint64_t copies_ = 0, bytes_ = 0, errors_ = 0;
};

}  // namespace weft::host

#endif
