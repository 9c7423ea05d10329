#include "ptx/liveness.h"

#include <algorithm>

#include "ptx/neighbours.h"
#include "weft/common/error.h"

namespace weft::ptx {
namespace {

// What a block does to a register that is live into some block.
struct Mention {
  std::uint32_t number = 0, block = 0;
  bool used = false;    // read before it is written
  bool killed = false;  // overwritten
};

// Blocks by their places, of which the highest is taken next.
class HighestFirst {
 public:
  explicit HighestFirst(std::size_t places) : words_((places + 63) / 64, 0) {}
  void add(std::uint32_t place) {
    words_[place / 64] |= std::uint64_t{1} << place % 64;
    highest_ = std::max(highest_, std::size_t{place / 64} + 1);
  }
  bool take(std::uint32_t& place) {
    while (highest_ != 0 && words_[highest_ - 1] == 0) --highest_;
    if (highest_ == 0) return false;
    std::uint64_t& word = words_[highest_ - 1];
    const auto bit = static_cast<std::size_t>(63 - __builtin_clzll(word));
    word &= ~(std::uint64_t{1} << bit);
    place = static_cast<std::uint32_t>(64 * (highest_ - 1) + bit);
    return true;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t highest_ = 0;  // no place is in words_ from here on
};

Neighbours predecessors_in(const FlowGraph& flow) {
  std::vector<GraphEdge> edges;
  const auto exit = static_cast<std::uint32_t>(flow.blocks.size());
  for (std::uint32_t b = 0; b < exit; ++b) {
    for (const std::uint32_t s : flow.blocks[b].successors) edges.emplace_back(b, s);
  }
  return {edges, exit + 1, Neighbours::kBackward};
}

class LivenessSearch {
 public:
  LivenessSearch(const Draft& draft, const FlowGraph& flow, std::uint64_t most)
      : draft_(draft),
        flow_(flow),
        budget_(most),
        most_(most),
        predecessors_(predecessors_in(flow)),
        place_(flow.blocks.size()),
        sets_(flow.blocks.size()),
        waiting_(flow.blocks.size()) {
    for (std::uint32_t i = 0; i < flow.dominance_order.size(); ++i) place_[flow.dominance_order[i]] = i;
  }

  Liveness run() {
    number_registers();
    const std::vector<Mention> mentions = find_mentions();
    for (auto first = mentions.begin(); first != mentions.end();) {
      const std::uint32_t group = first->number / 64;
      const auto last =
          std::find_if(first, mentions.end(), [group](const Mention& m) { return m.number / 64 != group; });
      for (; first != last; ++first) begin(*first);
      go_up();
      end_group(group);
    }
    return {sorted_changes(), std::move(at_entry_)};
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint64_t kStepsOfAChange = 16;  // for the memory that it takes

  // Of one group of registers, a bit each.
  struct Sets {
    std::uint64_t used = 0, killed = 0, in = 0, out = 0;
    bool touched = false;
  };
  struct Change {
    std::uint32_t block = 0;
    LiveOut::Word word;
  };

  // The registers that are read in some block before that block writes them. Numbers ascend as registers do,
  // so that lists made from a set are sorted.
  void number_registers() {
    number_.assign(draft_.registers.size(), kNone);
    std::vector<std::uint32_t> written_in(draft_.registers.size(), kNone);
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
      for (Pc pc = flow_.blocks[b].first; pc <= flow_.blocks[b].last; ++pc) {
        const DraftInstruction& i = draft_.code[pc];
        const auto read = [&](VirtualId id) {
          if (written_in[id] != b && number_[id] == kNone) {
            number_[id] = 0;
            registers_.push_back(id);
          }
        };
        for_each_read(i, read);
        for_each_write(i, [&](VirtualId id) {
          if (overwrites(i)) {
            written_in[id] = b;
          } else {
            read(id);  // keeps the old value alive
          }
        });
      }
    }
    std::sort(registers_.begin(), registers_.end());
    for (std::uint32_t n = 0; n < registers_.size(); ++n) number_[registers_[n]] = n;
  }

  // By group of registers.
  std::vector<Mention> find_mentions() const {
    std::vector<Mention> found;
    std::vector<std::size_t> first(registers_.size() / 64 + 2, 0);
    std::vector<std::size_t> last_of(registers_.size(), SIZE_MAX);  // by number: the latest one
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
      const auto mention = [&](VirtualId id) -> Mention* {
        const std::uint32_t n = number_[id];
        if (n == kNone) return nullptr;
        if (last_of[n] == SIZE_MAX || found[last_of[n]].block != b) {
          last_of[n] = found.size();
          found.push_back({n, b, false, false});
          ++first[n / 64 + 1];
        }
        return &found[last_of[n]];
      };
      for (Pc pc = flow_.blocks[b].first; pc <= flow_.blocks[b].last; ++pc) {
        const DraftInstruction& i = draft_.code[pc];
        const auto read = [&](VirtualId id) {
          Mention* m = mention(id);
          if (m != nullptr && !m->killed) m->used = true;
        };
        for_each_read(i, read);
        for_each_write(i, [&](VirtualId id) {
          if (!overwrites(i)) return read(id);
          Mention* m = mention(id);
          if (m != nullptr) m->killed = true;
        });
      }
    }
    for (std::size_t g = 1; g < first.size(); ++g) first[g] += first[g - 1];
    std::vector<Mention> sorted(found.size());
    for (const Mention& m : found) sorted[first[m.number / 64]++] = m;
    return sorted;
  }

  Sets& touch(std::uint32_t block) {
    Sets& sets = sets_[block];
    if (!sets.touched) {
      sets.touched = true;
      touched_.push_back(block);
    }
    return sets;
  }

  void begin(const Mention& m) {
    Sets& sets = touch(m.block);
    const std::uint64_t bit = std::uint64_t{1} << m.number % 64;
    if (m.killed) sets.killed |= bit;
    if (!m.used) return;
    sets.used |= bit;
    sets.in |= bit;
    waiting_.add(place_[m.block]);
  }

  // Those after a block mostly come before it, so it is rarely visited again.
  void go_up() {
    std::uint32_t place = 0;
    while (waiting_.take(place)) {
      const std::uint32_t block = flow_.dominance_order[place];
      const std::uint64_t live = sets_[block].in;
      const Neighbours::Range before = predecessors_[block];
      pay(1 + static_cast<std::uint64_t>(before.last - before.first));
      for (const std::uint32_t p : before) {
        Sets& sets = touch(p);
        sets.out |= live;
        const std::uint64_t in = sets.used | (sets.out & ~sets.killed);
        if (in == sets.in) continue;
        sets.in = in;
        waiting_.add(place_[p]);
      }
    }
  }

  void end_group(std::uint32_t group) {
    const auto blocks = static_cast<std::uint32_t>(flow_.blocks.size());
    const auto note = [&](std::uint32_t block, std::uint64_t bits) {
      if (bits == 0) return;
      pay(kStepsOfAChange);
      changes_.push_back({block, {bits, group}});
    };
    for (const std::uint32_t b : touched_) {
      const std::uint64_t out = sets_[b].out;
      size_ += static_cast<unsigned>(__builtin_popcountll(out));
      note(b, out ^ (b == 0 ? 0 : sets_[b - 1].out));
      if (b + 1 != blocks && !sets_[b + 1].touched) note(b + 1, out);
    }
    for (std::uint64_t rest = sets_[0].in; rest != 0; rest &= rest - 1) {
      const auto bit = static_cast<std::size_t>(__builtin_ctzll(rest));
      at_entry_.push_back(registers_[64 * std::size_t{group} + bit]);
    }
    for (const std::uint32_t b : touched_) sets_[b] = {};
    touched_.clear();
  }

  // By block; within one, groups ascend as they are.
  LiveOut sorted_changes() {
    std::vector<std::size_t> first(flow_.blocks.size() + 1, 0);
    for (const Change& c : changes_) ++first[c.block + std::size_t{1}];
    for (std::size_t b = 1; b < first.size(); ++b) first[b] += first[b - 1];
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    std::vector<LiveOut::Word> words(changes_.size());
    for (const Change& c : changes_) words[next[c.block]++] = c.word;
    return {std::move(registers_), std::move(first), std::move(words), size_};
  }

  void pay(std::uint64_t steps) {
    if (steps <= budget_) {
      budget_ -= steps;
      return;
    }
    const SourcePlace& place = draft_.code[0].fixed.ptx;
    throw InputError(draft_.files[place.file] + ":" + std::to_string(place.line),
                     std::to_string(registers_.size()) + " registers are live across some of " +
                         std::to_string(flow_.blocks.size()) +
                         " blocks, and the search for these blocks takes more than the " +
                         std::to_string(most_) + " steps allowed");
  }

  const Draft& draft_;
  const FlowGraph& flow_;
  std::uint64_t budget_;  // steps that are left
  const std::uint64_t most_;
  const Neighbours predecessors_;
  std::vector<std::uint32_t> place_;    // by block: in the dominance order
  std::vector<std::uint32_t> number_;   // by register
  std::vector<VirtualId> registers_;    // by number
  std::vector<Sets> sets_;              // by block, of the present group
  std::vector<std::uint32_t> touched_;  // of sets_
  HighestFirst waiting_;
  std::vector<Change> changes_;
  std::uint64_t size_ = 0;  // of what is live at the end of all blocks
  std::vector<VirtualId> at_entry_;
};

}  // namespace

Liveness find_liveness(const Draft& draft, const FlowGraph& flow, std::uint64_t most) {
  return LivenessSearch(draft, flow, most).run();
}

}  // namespace weft::ptx
