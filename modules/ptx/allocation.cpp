#include "ptx/allocation.h"

#include <algorithm>

namespace weft::ptx {
namespace {

class Interference {
 public:
  explicit Interference(std::size_t registers) : neighbours_(registers) {}
  void add(VirtualId a, VirtualId b) {
    if (a == b) return;
    neighbours_[a].push_back(b);
    neighbours_[b].push_back(a);
  }
  void finish() {  // a register written at many places meets the same neighbours again and again
    for (auto& list : neighbours_) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }
  const std::vector<VirtualId>& operator[](VirtualId id) const { return neighbours_[id]; }

 private:
  std::vector<std::vector<VirtualId>> neighbours_;
};

// A backward walk over each block, keeping the live set and its size in rows and predicates.
class Walk {
 public:
  Walk(const Draft& draft, const FlowGraph& flow, const Liveness& liveness)
      : draft_(draft), flow_(flow), liveness_(liveness), live_(draft.registers.size()) {}

  // visit(instruction, live after it); `visit` of the same instruction comes before its reads are added.
  template <class Visit>
  void run(Visit visit) {
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      live_.clear();
      rows_ = predicates_ = 0;
      for (const VirtualId id : liveness_.live_out[b]) insert(id);
      note();
      for (Pc pc = flow_.blocks[b].last + 1; pc-- > flow_.blocks[b].first;) {
        const DraftInstruction& i = draft_.code[pc];
        // A dead result needs a place at the moment it is written.
        std::array<VirtualId, 4> dead{};
        std::size_t dead_count = 0;
        for_each_write(i, [&](VirtualId id) {
          if (insert(id)) dead[dead_count++] = id;
        });
        note();
        visit(i, live_);
        while (dead_count > 0) erase(dead[--dead_count]);
        if (overwrites(i))
          for_each_write(i, [&](VirtualId id) { erase(id); });
        else
          for_each_write(i, [&](VirtualId id) { insert(id); });
        for_each_read(i, [&](VirtualId id) { insert(id); });
        note();
      }
    }
  }
  std::uint32_t most_rows() const { return most_rows_; }
  std::uint32_t most_predicates() const { return most_predicates_; }

 private:
  bool insert(VirtualId id) {
    if (!live_.insert(id)) return false;
    rows_ += rows_of(draft_.registers[id]);
    predicates_ += draft_.registers[id] == RegisterClass::kPredicate;
    return true;
  }
  void erase(VirtualId id) {
    if (!live_.erase(id)) return;
    rows_ -= rows_of(draft_.registers[id]);
    predicates_ -= draft_.registers[id] == RegisterClass::kPredicate;
  }
  void note() {
    most_rows_ = std::max(most_rows_, rows_);
    most_predicates_ = std::max(most_predicates_, predicates_);
  }

  const Draft& draft_;
  const FlowGraph& flow_;
  const Liveness& liveness_;
  LiveSet live_;
  std::uint32_t rows_ = 0, predicates_ = 0, most_rows_ = 0, most_predicates_ = 0;
};

// Registers in the order of their first mention along the dominance order.
std::vector<VirtualId> dominance_order(const Draft& draft, const FlowGraph& flow) {
  std::vector<VirtualId> order;
  std::vector<bool> seen(draft.registers.size(), false);
  const auto mention = [&](VirtualId id) {
    if (!seen[id]) {
      seen[id] = true;
      order.push_back(id);
    }
  };
  for (const std::uint32_t b : flow.dominance_order) {
    for (Pc pc = flow.blocks[b].first; pc <= flow.blocks[b].last; ++pc) {
      for_each_read(draft.code[pc], mention);
      for_each_write(draft.code[pc], mention);
    }
  }
  return order;
}

// Gives each register the lowest place that no neighbour of its class occupies. `apart`: 64-bit registers
// take the first rows, 32-bit ones those after them.
void colour(const Draft& draft, const Interference& interference, const std::vector<VirtualId>& order,
            bool apart, Allocation& result) {
  constexpr std::uint16_t kNone = UINT16_MAX;
  result.row.assign(draft.registers.size(), kNone);
  result.rows = result.predicates = 0;
  std::vector<VirtualId> taken_by;  // by row: the register that last found it taken
  for (const VirtualId id : order) {
    const RegisterClass kind = draft.registers[id];
    const bool predicate = kind == RegisterClass::kPredicate;
    for (const VirtualId other : interference[id]) {
      const std::uint16_t row = result.row[other];
      if (row == kNone || (draft.registers[other] == RegisterClass::kPredicate) != predicate) continue;
      if (apart && draft.registers[other] != kind) continue;
      const std::size_t end = row + (draft.registers[other] == RegisterClass::kDouble ? 2u : 1u);
      if (taken_by.size() < end) taken_by.resize(end, kNoRegister);
      for (std::size_t r = row; r < end; ++r) taken_by[r] = id;
    }
    const auto is_free = [&](std::uint32_t row) { return row >= taken_by.size() || taken_by[row] != id; };
    std::uint32_t row = 0;
    if (kind == RegisterClass::kDouble) {
      while (!is_free(row) || !is_free(row + 1)) row += 2;
      result.rows = std::max(result.rows, row + 2);
    } else {
      while (!is_free(row)) ++row;
      std::uint32_t& used = predicate ? result.predicates : result.rows;
      used = std::max(used, row + 1);
    }
    result.row[id] = static_cast<std::uint16_t>(row);
  }
}

// Rows of which none is shared between widths.
void colour_apart(const Draft& draft, const Interference& interference, const std::vector<VirtualId>& order,
                  Allocation& result) {
  colour(draft, interference, order, true, result);
  std::uint32_t wide = 0, narrow = 0;
  for (const VirtualId id : order) {
    if (draft.registers[id] == RegisterClass::kDouble) wide = std::max(wide, result.row[id] + 2u);
    if (draft.registers[id] == RegisterClass::kSingle) narrow = std::max(narrow, result.row[id] + 1u);
  }
  for (const VirtualId id : order) {
    if (draft.registers[id] == RegisterClass::kSingle)
      result.row[id] = static_cast<std::uint16_t>(result.row[id] + wide);
  }
  result.rows = wide + narrow;
  result.wide_rows = wide;
}

}  // namespace

Allocation allocate(const Draft& draft, const FlowGraph& flow, const Liveness& liveness,
                    std::uint32_t max_rows, std::uint32_t max_predicates) {
  Allocation result;
  Walk walk(draft, flow, liveness);
  walk.run([](const DraftInstruction&, const LiveSet&) {});
  result.pressure = walk.most_rows();
  result.predicate_pressure = walk.most_predicates();
  // The bound on what is live bounds the graph: at most that many neighbours per write.
  result.feasible = result.pressure <= max_rows && result.predicate_pressure <= max_predicates;
  if (!result.feasible) return result;

  Interference interference(draft.registers.size());
  walk.run([&](const DraftInstruction& i, const LiveSet& live) {
    for_each_write(i, [&](VirtualId written) {
      const bool predicate = draft.registers[written] == RegisterClass::kPredicate;
      for (const VirtualId other : live.list()) {
        if ((draft.registers[other] == RegisterClass::kPredicate) == predicate)
          interference.add(written, other);
      }
      // Where source and destination differ in width, lanes would overlap without being equal; an instruction
      // may only write onto a source that lies exactly below it. Memory instructions have read everything by
      // then.
      if (i.fixed.is_memory() || predicate) return;
      for_each_read(i, [&](VirtualId read) {
        if (draft.registers[read] != draft.registers[written] &&
            draft.registers[read] != RegisterClass::kPredicate) {
          interference.add(written, read);
        }
      });
    });
  });
  // What is read before it is written has no write to meet the others at.
  for (const VirtualId a : liveness.live_in_at_entry) {
    for (const VirtualId b : liveness.live_in_at_entry) interference.add(a, b);
  }
  interference.finish();

  std::vector<VirtualId> order = dominance_order(draft, flow);
  colour(draft, interference, order, false, result);
  std::stable_partition(order.begin(), order.end(),
                        [&](VirtualId id) { return draft.registers[id] == RegisterClass::kDouble; });
  Allocation other = result;
  colour(draft, interference, order, false, other);
  result.registers = std::min(result.rows, other.rows);
  colour_apart(draft, interference, order, result);
  return result;
}

}  // namespace weft::ptx
