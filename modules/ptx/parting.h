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
#include <set>
#include <vector>

#include "ptx/liveness.h"

namespace weft::ptx {

// What the search for a kernel's scalars may still take, of all of its parts together: a limit that does not
// depend on the machine. Once it is used up nothing is known.
class ScalarWork {
 public:
  // Blocks, edges and words of sets that are looked at. Functions of up to some 2,000 blocks stay below it.
  static constexpr std::uint64_t kMost = 100'000'000;

  void take(std::uint64_t units) { left_ = units < left_ ? left_ - units : 0; }
  bool is_used_up() const { return left_ == 0; }

 private:
  std::uint64_t left_ = kMost;
};

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

// Looking at a branch takes time in proportion to the blocks between it and the point where all meet, however
// many sides it has.
class Partings {
 public:
  // `waits`: blocks in which threads wait for others. `work`: what may still be looked at, which goes down.
  // All outlive this.
  Partings(const FlowGraph& flow, const BlockValues& values, std::vector<bool> waits, ScalarWork& work);

  // Threads may part at the end of the block: its successors are the paths.
  void part_after(std::uint32_t block);
  // Threads may part within the block, where some go on before others.
  void part_at(std::uint32_t block);
  // Takes the next parting of which not all is known. `visit(block, cause)`: a block in which threads may be
  // apart for the first time, or in which more is kept than before; cause as given to part_*. Repeats until
  // nothing changes any more, or until there is no work left.
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

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint32_t kSeveral = UINT32_MAX - 1;  // in the place of a side's number

  enum class Turns : std::uint8_t { kNone, kInRow, kByTurns, kApart };
  struct Parting {
    std::uint32_t block = 0;
    bool within = false;
    Turns done = Turns::kNone;
  };
  struct Side {
    std::uint32_t first = 0;           // block; blocks.size(): the end of the kernel
    std::size_t begin = 0, count = 0;  // in region_: blocks to which no side before this one leads
  };
  using Set = std::vector<std::uint64_t>;

  void add(std::uint32_t block, bool within);
  bool step();
  void apply(Parting& parting);
  void apply_within(Parting& parting);
  void find_sides(std::uint32_t block, std::uint32_t stop);
  void follow_side(std::uint32_t number, std::uint32_t stop);
  void share(std::uint32_t block, std::uint32_t stop);
  bool is_shared(std::uint32_t block) const { return side_of_[block] == kSeveral; }
  template <class Visit>
  void for_each_successor(std::uint32_t block, Visit visit) {
    const std::size_t begin = first_edge_[block], end = first_edge_[block + 1];
    for (std::size_t edge = begin; edge < end; ++edge) visit(edges_[edge]);
    work_.take(1 + end - begin);
  }
  void find_held(const Side& side, Turns turns, Set& held);
  void keep_for_sides(Turns turns, Set& all);
  void expose_region();
  void keep(std::uint32_t block, const Set& set);
  void unite(Set& set, const std::uint64_t* more);

  const std::vector<BasicBlock>& blocks_;
  const BlockValues& values_;
  const std::vector<bool> waits_;
  ScalarWork& work_;
  std::vector<std::size_t> first_edge_;  // by block
  std::vector<std::uint32_t> edges_;     // successors, block by block
  BlockSets kept_;
  std::vector<bool> exposed_, met_;            // by block; met_: it was touched
  std::vector<std::uint32_t> after_, within_;  // by block: the number of its parting, or kNone
  std::vector<Parting> partings_;              // in the order in which they were told
  std::set<std::uint32_t> open_;               // those of which not all is known
  std::uint32_t cause_ = 0;
  std::vector<std::uint32_t> touched_;           // blocks, by the last step
  std::vector<Side> sides_;                      // of the parting under way
  std::vector<std::uint32_t> region_, side_of_;  // its blocks; by block: the side that leads there
  std::vector<std::uint32_t> shared_;            // to be followed: several sides lead there
};

}  // namespace weft::ptx

#endif
