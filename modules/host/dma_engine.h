// Copies between any two places of device and system memory, and fills, in simulated time.
//
//   engine.copy({from, to, bytes, [](const DmaEngine::Outcome& outcome) { ... }});
//   engine.fill({to, bytes, pattern, [](const DmaEngine::Outcome& outcome) { ... }});
//   engine.run(std::make_unique<MyPlan>(...), [](const DmaEngine::Outcome& outcome) { ... });
//
// Jobs begin in the order in which they were asked for. A job is cut into pieces of at most a burst; each
// takes one of `dma_slots` slots from the begin of its reads to the end of its writes, so reads and writes of
// one job, and the end of one job and the begin of the next, overlap. Bytes change as their writes complete.
// Copies and fills are of consecutive bytes; what else a job may read and write is its plan's.
#ifndef WEFT_HOST_DMA_ENGINE_H
#define WEFT_HOST_DMA_ENGINE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "bus/clock_domain.h"
#include "common/probes.h"
#include "host/bus.h"
#include "weft/common/statistics.h"

namespace weft::host {

// What one slot does: reads runs of bytes, puts them into another order, writes them as other runs.
struct DmaPiece {
  struct Run {
    std::uint64_t address = 0, bytes = 0;  // within device memory, or within one window
  };
  struct Move {
    std::uint32_t from = 0, to = 0, bytes = 0;  // offsets among the bytes read, and among those written
  };
  std::vector<Run> reads;  // none: every 4 bytes written, from the piece's first on, are `pattern`
  std::vector<Run> writes;
  std::vector<Move> moves;  // none: written in the order in which they were read
  std::uint32_t pattern = 0;

  void clear() {
    reads.clear();
    writes.clear();
    moves.clear();
  }
};

class DmaPlan {
 public:
  virtual ~DmaPlan() = default;
  // Describes the next piece, of at most `most` bytes, in `piece`, which is clear. False: there is none.
  virtual bool next(DmaPiece& piece, std::uint64_t most) = 0;
};

// Who watches jobs. `job` counts from 0.
class DmaObserver {
 public:
  virtual ~DmaObserver() = default;
  virtual void job_began(std::uint64_t job) = 0;  // its first piece
  virtual void job_ended(std::uint64_t job, std::uint64_t bytes) = 0;
  virtual void jobs_forgotten() = 0;  // a reset
};

class DmaEngine final : private TransferClient {
 public:
  struct Outcome {
    bool done = true;                  // false: the bus refused an access; some bytes may have been copied
    std::uint64_t failed_address = 0;  // ... of this
  };
  // Called once, in a step of the engine; not if it is reset before. May ask for further jobs.
  using Done = std::function<void(const Outcome&)>;
  struct Copy {
    std::uint64_t from = 0, to = 0, bytes = 0;
    Done done;
  };

  struct Fill {
    std::uint64_t to = 0, bytes = 0;
    std::uint32_t pattern = 0;  // its 4 bytes again and again, from the first byte filled
    Done done;
  };

  DmaEngine(const Config& config, Bus& bus, ClockDomain& domain);
  void set_index(std::size_t index) { index_ = index; }

  // The ranges must not overlap: which bytes are read then is not defined.
  void copy(Copy copy);
  void fill(Fill fill);
  // The same as for a copy holds for what the plan reads and writes.
  void run(std::unique_ptr<DmaPlan> plan, Done done);
  Cycle step(Cycle now);
  // Forgets all jobs. After the bus masters' resets.
  void reset();
  bool idle() const { return state_.jobs.empty(); }
  void bind(statistics::Group& group);
  void probes(const Probes::Scope& scope) const;
  // Shows jobs from now on to `observer`; nullptr: to nobody.
  void watch(DmaObserver* observer) { observer_ = observer; }

 private:
  struct Job {
    std::uint64_t number = 0, bytes = 0;  // written so far
    bool begun = false;
    std::unique_ptr<DmaPlan> plan;
    Done done;
    Outcome outcome;
    unsigned open = 0;       // slots
    bool exhausted = false;  // every piece has begun
    bool told = false;
  };
  struct Slot;
  struct Part : Transfer {  // a run
    Slot* slot = nullptr;
  };
  struct Slot {
    DmaPiece piece;
    std::vector<Part> parts;             // of the runs under way
    std::vector<unsigned char> in, out;  // bytes read, bytes to write
    Job* job = nullptr;
    unsigned open = 0;  // parts
    bool writing = false;
  };

  struct State {
    State(std::size_t slots, std::uint64_t burst_bytes);
    std::deque<Job> jobs;  // slots refer to them: only its ends change
    std::vector<Slot> slots;
    std::vector<Slot*> free;
  };

  void transferred(Transfer& transfer) override;
  bool begin_piece(Job& job);
  void start(Slot& slot, const std::vector<DmaPiece::Run>& runs, bool write);
  void start_writes(Slot& slot);

  const std::uint64_t burst_bytes_;
  Bus& bus_;
  ClockDomain& domain_;
  std::size_t index_ = 0;
  State state_;
  std::uint64_t copies_ = 0, bytes_ = 0, errors_ = 0;
  std::uint64_t next_number_ = 0;
  DmaObserver* observer_ = nullptr;
};

}  // namespace weft::host

#endif
