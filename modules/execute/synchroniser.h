// Where threads of a block wait for each other: block barriers and warp-level primitives. What an arrival
// may be, who is still awaited, when threads go on, and what is said when they never can.
//
// The timed SM and the functional engine share it. Both run threads in their own way; what it has to know of
// that, and what it tells, is Runner.
#ifndef WEFT_EXECUTE_SYNCHRONISER_H
#define WEFT_EXECUTE_SYNCHRONISER_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "execute/block_barrier.h"
#include "execute/executor.h"
#include "execute/warp_gatherings.h"
#include "weft/common/fault.h"

namespace weft::execute {

class Synchroniser {
 public:
  // Whoever runs the threads.
  class Runner {
   public:
    virtual ~Runner() = default;
    // Lanes of a chunk that will end and wait for nothing else than to be let go: nobody waits for them.
    virtual std::uint32_t ending(const ResidentBlock& block, unsigned chunk) const;
    // Lanes of a chunk that cannot go on before one of the `standing` threads does (a word for each chunk).
    virtual std::uint32_t held_back(const ResidentBlock& block, unsigned chunk,
                                    const std::uint32_t* standing) const;
    // Threads of the block that wait, for others of their warp, at an instruction that ends them.
    virtual std::uint32_t waiting_to_exit(const ResidentBlock& block) const;
    // All have arrived at the barrier: those that wait there go on.
    virtual void barrier_opened(const ResidentBlock& block, unsigned barrier) = 0;
    // All members of a primitive that can come have, and it is done: these, which waited, go on.
    virtual void gathered(const ResidentBlock& block, unsigned chunk, std::uint32_t lanes) = 0;
  };
  using Barriers = std::array<BlockBarrier, BlockBarrier::kPerBlock>;

  // `blocks` are the slots of the SM with this number; they and the others outlive this object. `name`: of
  // the SM, in messages.
  Synchroniser(std::string name, unsigned sm, Executor& executor, const std::vector<ResidentBlock>& blocks,
               Runner& runner);

  // Shows what happens at barriers to `observer` from now on; nullptr: to nobody.
  void observe(AccessObserver* observer) { observer_ = observer; }
  void start_kernel(const Kernel& kernel);
  // The block enters its slot: all of its threads live, none waits.
  void start_block(const ResidentBlock& block);
  // As after construction.
  void reset();

  // Threads of the chunk that have not exited.
  std::uint32_t live(unsigned chunk) const { return live_[chunk]; }
  const std::vector<std::uint32_t>& live() const { return live_; }
  // Threads have exited. Whoever waited for them may go on: open_barriers, release_gatherings.
  void exited(unsigned chunk, std::uint32_t lanes) { live_[chunk] &= ~lanes; }

  // Block barriers.

  // Calls visit(number, lanes) for those of the threads that name the same barrier; of numbers that there
  // are not, too.
  template <class Visit>
  void each_number(const Operation& op, unsigned chunk, std::uint32_t lanes, Visit&& visit);
  // Threads of a chunk arrive, each at the barrier that it names. Calls arrived(number, lanes) for those
  // that name the same. A fault: the first arrival that cannot be.
  template <class Arrived>
  Fault arrive(const Participants& threads, unsigned chunk, const ResidentBlock& block, Arrived&& arrived);
  // Opens the barriers of the block at which nobody is missing any more.
  void open_barriers(const ResidentBlock& block);
  const Barriers& barriers(unsigned slot) const { return barriers_[slot].all; }
  std::uint64_t barriers_opened() const { return opened_; }

  // Warp-level primitives.

  // Calls visit(mask, lanes) for those of the threads that name the same members (a primitive without a mask
  // names the threads that execute it) until it returns false. Whether it never did.
  template <class Visit>
  bool each_mask(const Operation& op, unsigned chunk, std::uint32_t lanes, Visit&& visit);
  // Members that are alive, will come, and are not among `lanes`.
  std::uint32_t missing(const ResidentBlock& block, unsigned chunk, std::uint32_t mask,
                        std::uint32_t lanes) const;
  // A fault if one of the threads is no member of the mask that it names.
  Fault check_members(const Participants& threads, unsigned chunk, std::uint32_t mask,
                      const ResidentBlock& block) const;
  // The primitive happens, for threads that are all members there are.
  Fault perform(const Participants& threads, unsigned chunk, const ResidentBlock& block);
  // The threads wait for the members that are missing. A fault: those wait for something else.
  Fault gather(const Participants& threads, unsigned chunk, std::uint32_t mask, const ResidentBlock& block);
  // Lets go whose members have all come, are gone, or cannot come before these go on: they wait at a
  // reconvergence point or a block barrier for these. The first fault among them.
  Fault release_gatherings();
  const WarpGatherings& gatherings() const { return gatherings_; }

  // A line for each barrier and each primitive at which threads wait.
  std::string dump() const;

 private:
  // A bit of `in_use` for each barrier at which a thread has arrived.
  struct BlockBarriers {
    Barriers all;
    std::uint16_t in_use = 0;
  };

  static unsigned first_lane(std::uint32_t mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }
  // Those of the lanes whose word equals that of the first of them; no words: all.
  static std::uint32_t equal_lanes(const std::uint32_t* words, std::uint32_t lanes);
  std::string arrive_at(const BlockBarrier::Arrival& arrival, const ResidentBlock& block);
  Fault refuse(const Participants& threads, unsigned chunk, unsigned lane, const ResidentBlock& block,
               const std::string& why) const;
  void synchronised(const Operation& op, unsigned chunk, std::uint32_t lanes, const ResidentBlock& block);
  Fault release(const Gathering& gathering);
  std::uint32_t at_whole_barriers(const ResidentBlock& block, unsigned chunk) const;
  const Gathering* oldest_without_hope();
  void tell_absence(const Gathering& gathering) const;
  std::string dump_gatherings() const;
  // Lanes of a warp of the block that will never arrive.
  auto gone(const ResidentBlock& block) const {
    return [this, &block](unsigned warp) {
      const unsigned chunk = block.chunk_of(warp);
      return ~live_[chunk] | runner_.ending(block, chunk);
    };
  }

  const std::string name_;
  const unsigned sm_;
  Executor& executor_;
  const std::vector<ResidentBlock>& blocks_;
  Runner& runner_;
  AccessObserver* observer_ = nullptr;
  const Kernel* kernel_ = nullptr;
  std::vector<BlockBarriers> barriers_;  // by slot
  std::vector<std::uint32_t> live_;      // by chunk
  std::vector<std::uint32_t> standing_;  // by chunk; of oldest_without_hope
  WarpGatherings gatherings_;
  std::uint64_t opened_ = 0;
};

template <class Arrived>
Fault Synchroniser::arrive(const Participants& threads, unsigned chunk, const ResidentBlock& block,
                           Arrived&& arrived) {
  const Operation& op = *threads.op;
  const ptx::BarrierKind kind = op.instruction->barrier;
  const std::uint32_t* numbers = executor_.words_of(op.src[0], chunk);
  const std::uint32_t* counts = executor_.words_of(op.src[1], chunk);
  for (std::uint32_t rest = threads.lanes; rest != 0;) {
    const unsigned lane = first_lane(rest);
    BlockBarrier::Arrival arrival;
    arrival.op = &op;
    arrival.number = numbers[lane];
    arrival.count = counts == nullptr ? 0 : counts[lane];
    arrival.chunk = block.warp_of(chunk);
    arrival.executor_chunk = static_cast<std::uint16_t>(chunk);
    arrival.lanes = equal_lanes(numbers, rest) & equal_lanes(counts, rest);
    if (BlockBarrier::reduces(kind)) arrival.votes = executor_.predicates_of(op.src[2], chunk);
    rest &= ~arrival.lanes;
    const std::string wrong = arrive_at(arrival, block);
    if (!wrong.empty()) return refuse(threads, chunk, lane, block, wrong);
    if (observer_ != nullptr) {
      observer_->barrier_reached({kernel_, threads.pc, sm_, &block, chunk, arrival.lanes, arrival.number});
      observer_->barrier_arrived(sm_, block, arrival.number, chunk, arrival.lanes,
                                 kind != ptx::BarrierKind::kArrive);
    }
    arrived(arrival.number, arrival.lanes);
  }
  return {};
}

template <class Visit>
void Synchroniser::each_number(const Operation& op, unsigned chunk, std::uint32_t lanes, Visit&& visit) {
  const std::uint32_t* numbers = executor_.words_of(op.src[0], chunk);
  while (lanes != 0) {
    const std::uint32_t same = equal_lanes(numbers, lanes);
    visit(numbers[first_lane(lanes)], same);
    lanes &= ~same;
  }
}

template <class Visit>
bool Synchroniser::each_mask(const Operation& op, unsigned chunk, std::uint32_t lanes, Visit&& visit) {
  const std::uint32_t* masks = executor_.words_of(op.src[3], chunk);
  while (lanes != 0) {
    const std::uint32_t same = equal_lanes(masks, lanes);
    if (!visit(masks == nullptr ? same : masks[first_lane(lanes)], same)) return false;
    lanes &= ~same;
  }
  return true;
}

}  // namespace weft::execute

#endif
