// Which values threads of a warp may still need at one place while others of the warp run at another one.
//
// Threads that part at a branch stand at different places until they meet again. A register that the warp has
// once must not be written by those that run while it is live where others stand. Which pairs of places that
// are follows from how the machine lets paths run:
//
// - In a row: nothing on the ways to the point where all meet waits for other threads. One path then runs
//   from the branch to that point while the others stand at their first instruction, at the point, or at a
//   likely-convergence point: a block before it to which two ways lead.
// - By turns: the same, but threads of the warp have parted before and go on by the lowest PC. Every path may
//   then stand anywhere before the point.
// - Apart: on the ways there is a block barrier or a warp-level primitive, at which a path stands aside for
//   others. They may then miss the point, and be anywhere behind the branch, for ever.
//
// The last holds too behind a wait that some threads leave before others (`part_at`).
#ifndef WEFT_PTX_PARTING_H
#define WEFT_PTX_PARTING_H

#include <cstdint>
#include <vector>

#include "ptx/liveness.h"

namespace weft::ptx {

// Sets of registers as rows of bits, one per block.
class BlockSets {
 public:
  BlockSets(std::size_t blocks, std::size_t registers)
      : words_((registers + 63) / 64), bits_(blocks * words_, 0) {}
  std::size_t words() const { return words_; }
  std::uint64_t* operator[](std::size_t block) { return bits_.data() + block * words_; }
  const std::uint64_t* operator[](std::size_t block) const { return bits_.data() + block * words_; }
  bool contains(std::size_t block, std::size_t id) const {
    return ((*this)[block][id / 64] >> id % 64 & 1) != 0;
  }
  void insert(std::size_t block, std::size_t id) { (*this)[block][id / 64] |= 1ull << id % 64; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

// Registers are numbers below `count`.
struct BlockValues {
  BlockValues(std::size_t blocks, std::size_t registers)
      : count(registers), live_in(blocks, count), ever_live(blocks, count), written(blocks, count) {}
  std::size_t count;
  BlockSets live_in;    // where the block begins
  BlockSets ever_live;  // before any of its instructions, or at its end
  BlockSets written;
};

class Partings {
 public:
  // `waits`: blocks in which threads wait for others. Both outlive this.
  Partings(const FlowGraph& flow, const BlockValues& values, std::vector<bool> waits);

  // Threads may part at the end of the block: its successors are the paths.
  void part_after(std::uint32_t block);
  // Threads may part within the block, where some go on before others.
  void part_at(std::uint32_t block);
  // Takes the next block in which more is kept than before, or all blocks where threads may have parted.
  // `visit(block, cause)`: cause as given to part_*. Repeats until nothing changes any more.
  template <class Visit>
  void spread(Visit visit) {
    while (step()) {
      for (const std::uint32_t block : touched_) visit(block, cause_);
      touched_.clear();
    }
  }

  // What others may need while threads run the block.
  const BlockSets& kept() const { return kept_; }
  // Threads may stand in the block while others of their warp are elsewhere, each at any place.
  bool exposed(std::uint32_t block) const { return exposed_[block]; }
  // Too much to look at. Nothing is known then.
  bool too_large() const { return work_ > kMostWork; }

 private:
  static constexpr std::uint64_t kMostWork = 400'000'000;  // words and blocks looked at: a second

  enum class Turns : std::uint8_t { kNone, kInRow, kByTurns, kApart };
  struct Parting {
    std::uint32_t block = 0;
    bool within = false;
    Turns done = Turns::kNone;
  };
  struct Side {
    std::uint32_t first = 0;            // block; blocks.size(): the end of the kernel
    std::vector<std::uint32_t> blocks;  // before the point where all meet
  };

  bool step();
  void apply(Parting& parting);
  void apply_within(Parting& parting);
  void find_sides(std::uint32_t block, std::uint32_t stop);
  void walk(std::uint32_t first, std::uint32_t stop, std::vector<std::uint32_t>& blocks);
  void expose(const std::vector<std::uint32_t>& blocks);
  void keep(const std::vector<std::uint32_t>& blocks, const std::vector<std::uint64_t>& set);
  void unite(std::vector<std::uint64_t>& set, const std::uint64_t* more);

  const std::vector<BasicBlock>& blocks_;
  const BlockValues& values_;
  const std::vector<bool> waits_;
  BlockSets kept_;
  std::vector<bool> exposed_, known_;  // by block; known_: part_after has been told
  std::vector<Parting> partings_;
  std::uint32_t cause_ = 0;
  std::vector<std::uint32_t> touched_;  // blocks, by the last step
  std::vector<Side> sides_;
  std::vector<std::uint32_t> mark_, reached_by_;  // by block, of the walk under way
  std::uint32_t walk_ = 0;
  std::uint64_t work_ = 0;
};

}  // namespace weft::ptx

#endif
