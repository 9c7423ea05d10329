#include "ptx/allocation.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weft::ptx {
namespace {

constexpr std::uint16_t kNoRow = UINT16_MAX;

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

// A backward walk over each block, keeping the live set and its size in rows and predicates, of each file.
class Walk {
 public:
  Walk(const Draft& draft, const FlowGraph& flow, const Liveness& liveness, const KeptScalars& kept)
      : draft_(draft), flow_(flow), liveness_(liveness), kept_(kept), live_(draft.registers.size()) {}

  // visit(instruction, live after it); `visit` of the same instruction comes before its reads are added.
  template <class Visit>
  void run(Visit visit) {
    live_.clear();
    now_ = {};
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      liveness_.live_out.enter(
          b, live_, [this](VirtualId id) { insert(id); }, [this](VirtualId id) { erase(id); });
      if (!kept_.empty()) {
        for (const VirtualId id : kept_[b]) insert(id);
      }
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
  const FileUse& most(bool scalar) const { return most_[scalar]; }  // the pressures of it

 private:
  bool insert(VirtualId id) {
    if (!live_.insert(id)) return false;
    FileUse& now = now_[draft_.is_scalar(id)];
    now.pressure += rows_of(draft_.registers[id]);
    now.predicate_pressure += draft_.registers[id] == RegisterClass::kPredicate;
    return true;
  }
  void erase(VirtualId id) {
    if (!live_.erase(id)) return;
    FileUse& now = now_[draft_.is_scalar(id)];
    now.pressure -= rows_of(draft_.registers[id]);
    now.predicate_pressure -= draft_.registers[id] == RegisterClass::kPredicate;
  }
  void note() {
    for (std::size_t file = 0; file < now_.size(); ++file) {
      most_[file].pressure = std::max(most_[file].pressure, now_[file].pressure);
      most_[file].predicate_pressure =
          std::max(most_[file].predicate_pressure, now_[file].predicate_pressure);
    }
  }

  const Draft& draft_;
  const FlowGraph& flow_;
  const Liveness& liveness_;
  const KeptScalars& kept_;
  LiveSet live_;
  std::array<FileUse, 2> now_, most_;  // vector, scalar
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

// Gives each register of `order`, all of one file, the lowest place that no neighbour of its class occupies.
// `apart`: 64-bit registers take the first rows, 32-bit ones those after them.
void colour(const Draft& draft, const Interference& interference, const std::vector<VirtualId>& order,
            bool apart, std::vector<std::uint16_t>& row_of, FileUse& use) {
  for (const VirtualId id : order) row_of[id] = kNoRow;
  use.rows = use.predicates = 0;
  std::vector<VirtualId> taken_by;  // by row: the register that last found it taken
  for (const VirtualId id : order) {
    const RegisterClass kind = draft.registers[id];
    const bool predicate = kind == RegisterClass::kPredicate;
    for (const VirtualId other : interference[id]) {
      const std::uint16_t row = row_of[other];
      if (row == kNoRow || (draft.registers[other] == RegisterClass::kPredicate) != predicate) continue;
      if (apart && draft.registers[other] != kind) continue;
      const std::size_t end = row + (draft.registers[other] == RegisterClass::kDouble ? 2u : 1u);
      if (taken_by.size() < end) taken_by.resize(end, kNoRegister);
      for (std::size_t r = row; r < end; ++r) taken_by[r] = id;
    }
    const auto is_free = [&](std::uint32_t row) { return row >= taken_by.size() || taken_by[row] != id; };
    std::uint32_t row = 0;
    if (kind == RegisterClass::kDouble) {
      while (!is_free(row) || !is_free(row + 1)) row += 2;
      use.rows = std::max(use.rows, row + 2);
    } else {
      while (!is_free(row)) ++row;
      std::uint32_t& used = predicate ? use.predicates : use.rows;
      used = std::max(used, row + 1);
    }
    row_of[id] = static_cast<std::uint16_t>(row);
  }
}

// Rows of which none is shared between widths.
void colour_apart(const Draft& draft, const Interference& interference, const std::vector<VirtualId>& order,
                  std::vector<std::uint16_t>& row_of, FileUse& use) {
  colour(draft, interference, order, true, row_of, use);
  std::uint32_t wide = 0, narrow = 0;
  for (const VirtualId id : order) {
    if (draft.registers[id] == RegisterClass::kDouble) wide = std::max(wide, row_of[id] + 2u);
    if (draft.registers[id] == RegisterClass::kSingle) narrow = std::max(narrow, row_of[id] + 1u);
  }
  for (const VirtualId id : order) {
    if (draft.registers[id] == RegisterClass::kSingle)
      row_of[id] = static_cast<std::uint16_t>(row_of[id] + wide);
  }
  use.rows = wide + narrow;
  use.wide_rows = wide;
}

// The registers of one file, which `order` names.
void colour_file(const Draft& draft, const Interference& interference, std::vector<VirtualId> order,
                 std::vector<std::uint16_t>& row_of, FileUse& use) {
  colour(draft, interference, order, false, row_of, use);
  const std::uint32_t rows = use.rows;
  std::stable_partition(order.begin(), order.end(),
                        [&](VirtualId id) { return draft.registers[id] == RegisterClass::kDouble; });
  colour(draft, interference, order, false, row_of, use);
  use.registers = std::min(rows, use.rows);
  colour_apart(draft, interference, order, row_of, use);
}

// Edges between registers of one file.
Interference find_interference(const Draft& draft, const Liveness& liveness, Walk& walk) {
  Interference interference(draft.registers.size());
  walk.run([&](const DraftInstruction& i, const LiveSet& live) {
    for_each_write(i, [&](VirtualId written) {
      const bool predicate = draft.registers[written] == RegisterClass::kPredicate;
      const bool scalar = draft.is_scalar(written);
      for (const VirtualId other : live.list()) {
        if ((draft.registers[other] == RegisterClass::kPredicate) == predicate &&
            draft.is_scalar(other) == scalar) {
          interference.add(written, other);
        }
      }
      // Where source and destination differ in width, lanes would overlap without being equal; an instruction
      // may only write onto a source that lies exactly below it. Memory instructions have read everything by
      // then.
      if (i.fixed.is_memory() || predicate) return;
      for_each_read(i, [&](VirtualId read) {
        if (draft.registers[read] != draft.registers[written] &&
            draft.registers[read] != RegisterClass::kPredicate && draft.is_scalar(read) == scalar) {
          interference.add(written, read);
        }
      });
    });
  });
  // What is read before it is written has no write to meet the others at.
  for (const VirtualId a : liveness.live_in_at_entry) {
    for (const VirtualId b : liveness.live_in_at_entry) {
      if (draft.is_scalar(a) == draft.is_scalar(b)) interference.add(a, b);
    }
  }
  interference.finish();
  return interference;
}

}  // namespace

Allocation allocate(const Draft& draft, const FlowGraph& flow, const Liveness& liveness,
                    std::uint32_t max_rows, std::uint32_t max_predicates, const KeptScalars& kept) {
  Allocation result;
  Walk walk(draft, flow, liveness, kept);
  walk.run([](const DraftInstruction&, const LiveSet&) {});
  static_cast<FileUse&>(result) = walk.most(false);
  result.scalar = walk.most(true);
  // The bound on what is live bounds the graph: at most that many neighbours per write.
  const auto fits = [&](const FileUse& use) {
    return use.pressure <= max_rows && use.predicate_pressure <= max_predicates;
  };
  result.scalars_fit = fits(result.scalar);
  result.feasible = fits(result) && result.scalars_fit;
  if (!result.feasible) return result;

  const Interference interference = find_interference(draft, liveness, walk);
  std::array<std::vector<VirtualId>, 2> orders;  // vector, scalar
  for (const VirtualId id : dominance_order(draft, flow)) orders[draft.is_scalar(id)].push_back(id);
  result.row.assign(draft.registers.size(), kNoRow);
  colour_file(draft, interference, std::move(orders[0]), result.row, result);
  colour_file(draft, interference, std::move(orders[1]), result.row, result.scalar);
  result.scalars_fit = result.scalar.registers <= max_rows;
  return result;
}

}  // namespace weft::ptx
