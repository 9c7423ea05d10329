#include "ptx/spill.h"

#include <algorithm>
#include <utility>

#include "ptx/saves.h"

namespace weft::ptx {
namespace {

// How often a block runs, as a guess: eight times as often for each loop around it. A branch backwards in
// program order closes a loop over what lies between.
std::vector<double> frequencies(const FlowGraph& flow) {
  constexpr unsigned kMostDepth = 8;
  const std::size_t count = flow.blocks.size();
  std::vector<std::uint32_t> end_of_loop(count,
                                         UINT32_MAX);  // by first block: the last one, of several loops
  for (std::uint32_t b = 0; b < count; ++b) {
    for (const std::uint32_t s : flow.blocks[b].successors) {
      if (s <= b && s < count) end_of_loop[s] = b;
    }
  }
  std::vector<int> change(count + 1, 0);
  for (std::uint32_t b = 0; b < count; ++b) {
    if (end_of_loop[b] == UINT32_MAX) continue;
    ++change[b];
    --change[end_of_loop[b] + 1];
  }
  std::vector<double> result(count, 1.0);
  int depth = 0;
  for (std::size_t b = 0; b < count; ++b) {
    depth += change[b];
    for (unsigned d = 0; d < std::min<unsigned>(static_cast<unsigned>(depth), kMostDepth); ++d)
      result[b] *= 8;
  }
  return result;
}

class Spiller {
 public:
  Spiller(Draft& draft, SpillArea& area) : draft_(draft), area_(area) {}

  // Spills registers where more than `rows` are live at once. Returns how many.
  std::size_t reduce(const FlowGraph& flow, const Liveness& liveness, std::uint32_t rows) {
    weigh(flow, liveness, rows);
    choose(flow, liveness, rows);
    if (chosen_count_ != 0) insert();
    return chosen_count_;
  }

 private:
  static constexpr std::uint64_t kNoPlace = UINT64_MAX;

  // Scalar registers are not spilled, since local memory is the thread's own.
  std::uint32_t size_of(VirtualId id) const {
    return draft_.is_scalar(id) ? 0 : rows_of(draft_.registers[id]);
  }
  bool may_be_spilled(VirtualId id) const {
    return size_of(id) != 0 && (id >= is_temporary_.size() || !is_temporary_[id]);
  }

  // What spilling each register costs, and at how many places with too many live ones it would help.
  void weigh(const FlowGraph& flow, const Liveness& liveness, std::uint32_t limit) {
    const std::size_t count = draft_.registers.size();
    cost_.assign(count, 0);
    gain_.assign(count, 0);
    const std::vector<double> frequency = frequencies(flow);
    std::vector<std::uint64_t> since(count, 0);
    std::uint64_t crowded = 0;  // places so far
    LiveSet live(count);
    std::uint32_t rows = 0;
    const auto insert = [&](VirtualId id) {
      if (!live.insert(id)) return;
      rows += size_of(id);
      since[id] = crowded;
    };
    const auto erase = [&](VirtualId id) {
      if (!live.erase(id)) return;
      rows -= size_of(id);
      gain_[id] += static_cast<double>(crowded - since[id]);
    };
    for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
      liveness.live_out.enter(b, live, insert, erase);
      crowded += rows > limit ? 1 : 0;
      for (Pc pc = flow.blocks[b].last + 1; pc-- > flow.blocks[b].first;) {
        const DraftInstruction& i = draft_.code[pc];
        for_each_write(i, [&](VirtualId id) {
          cost_[id] += frequency[b];
          insert(id);
        });
        crowded += rows > limit ? 1 : 0;
        if (overwrites(i)) for_each_write(i, erase);
        for_each_read(i, [&](VirtualId id) {
          cost_[id] += frequency[b];
          insert(id);
        });
        crowded += rows > limit ? 1 : 0;
      }
    }
    while (!live.list().empty()) erase(live.list().back());
  }

  // Walks again without what is chosen, and chooses where still too many are live.
  void choose(const FlowGraph& flow, const Liveness& liveness, std::uint32_t limit) {
    const std::size_t count = draft_.registers.size();
    chosen_.assign(count, false);
    chosen_count_ = 0;
    LiveSet live(count);
    std::uint32_t rows = 0;
    const auto insert = [&](VirtualId id) {
      if (!chosen_[id] && live.insert(id)) rows += size_of(id);
    };
    const auto erase = [&](VirtualId id) {
      if (live.erase(id)) rows -= size_of(id);
    };
    // At one place; `taken` rows besides hold chosen registers while the instruction works on them, and what
    // `in_use` names cannot leave.
    const auto relieve = [&](std::uint32_t taken, const auto& in_use) {
      if (rows + taken <= limit) return;
      candidates_.clear();
      for (const VirtualId id : live.list()) {
        if (may_be_spilled(id) && !in_use(id))
          candidates_.emplace_back(cost_[id] / ((gain_[id] + 1) * size_of(id)), id);
      }
      std::sort(candidates_.begin(), candidates_.end());
      for (const auto& [weight, id] : candidates_) {
        if (rows + taken <= limit) return;
        chosen_[id] = true;
        ++chosen_count_;
        erase(id);
      }
    };
    const auto nobody = [](VirtualId) { return false; };
    for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
      liveness.live_out.enter(b, live, insert, erase);
      relieve(0, nobody);
      for (Pc pc = flow.blocks[b].last + 1; pc-- > flow.blocks[b].first;) {
        const DraftInstruction& i = draft_.code[pc];
        std::uint32_t taken = 0;
        for_each_write(
            i, [&](VirtualId id) { chosen_[id] ? static_cast<void>(taken += size_of(id)) : insert(id); });
        relieve(taken,
                [&](VirtualId id) { return std::find(i.dst.begin(), i.dst.end(), id) != i.dst.end(); });
        if (overwrites(i)) for_each_write(i, erase);
        taken = 0;
        for_each_read(
            i, [&](VirtualId id) { chosen_[id] ? static_cast<void>(taken += size_of(id)) : insert(id); });
        relieve(taken,
                [&](VirtualId id) { return std::find(i.src.begin(), i.src.end(), id) != i.src.end(); });
      }
    }
  }

  VirtualId temporary(VirtualId of) {
    const VirtualId id = draft_.add_copy(of);
    is_temporary_.resize(draft_.registers.size(), false);
    is_temporary_.back() = true;
    return id;
  }

  std::uint64_t place_of(VirtualId id) {
    if (place_.size() <= id) place_.resize(draft_.registers.size(), kNoPlace);
    if (place_[id] == kNoPlace) {
      const std::uint64_t bytes = size_of(id) == 2 ? 8 : 4;  // aligned as large
      area_.bytes = (area_.bytes + bytes - 1) / bytes * bytes;
      place_[id] = area_.bytes;
      area_.bytes += bytes;
    }
    return draft_.frame.spills + place_[id];
  }

  bool is_chosen(VirtualId id) const { return id < chosen_.size() && chosen_[id]; }

  void insert() {
    std::vector<DraftInstruction> code;
    code.reserve(draft_.code.size() * 2);
    std::vector<Pc> moved(draft_.code.size());
    for (Pc pc = 0; pc < draft_.code.size(); ++pc) {
      moved[pc] = static_cast<Pc>(code.size());
      bool any = false;
      const auto look = [&](VirtualId id) { any = any || is_chosen(id); };
      for_each_read(draft_.code[pc], look);
      for_each_write(draft_.code[pc], look);
      if (any) {
        around(draft_.code[pc], code);
      } else {
        code.push_back(draft_.code[pc]);
      }
    }
    retarget(code, draft_.tables, moved);
    draft_.code = std::move(code);
  }

  // A register in memory while one instruction works on it.
  struct Held {
    VirtualId id = kNoRegister, temporary = kNoRegister;
    bool read = false, written = false;
  };

  // The instruction with what it needs before and after it. Under a guard they have the guard too, so that
  // what it leaves alone stays in memory, unless the instruction changes its own guard.
  void around(const DraftInstruction& old, std::vector<DraftInstruction>& code) {
    std::array<Held, kMaxSources + 4> held;
    std::size_t count = 0;
    const auto hold = [&](VirtualId& id, bool written) {
      if (id >= kFirstFixed || !is_chosen(id)) return;
      std::size_t k = 0;
      while (k < count && held[k].id != id) ++k;
      if (k == count) held[count++] = {id, temporary(id), false, false};
      held[k].read = held[k].read || !written;
      held[k].written = held[k].written || written;
      id = held[k].temporary;
    };
    DraftInstruction i = old;
    for (VirtualId& id : i.src) hold(id, false);
    for (VirtualId& id : i.dst) hold(id, true);

    const bool guarded = i.guard != kNoRegister;
    const bool keeps_guard = std::find(i.dst.begin(), i.dst.end(), i.guard) == i.dst.end();
    // Where the guard does not hold nothing is stored, so what the temporary has there does not matter.
    const bool fresh = guarded && keeps_guard && std::all_of(i.dst.begin(), i.dst.end(), [&](VirtualId id) {
                         return id == kNoRegister || (id < is_temporary_.size() && is_temporary_[id]);
                       });
    if (fresh && count != 0) i.fresh = i.fresh || i.dst[0] != kNoRegister;
    const auto access = [&](const Held& h, bool is_load) {
      DraftInstruction d = frame_access(draft_, old, is_load, h.temporary, place_of(h.id));
      d.fixed.spill = true;
      if (guarded && keeps_guard) {
        d.guard = i.guard;
        d.fixed.guard = i.fixed.guard;
        d.fixed.guard_negated = i.fixed.guard_negated;
        d.fresh = is_load;
      }
      code.push_back(d);
    };
    for (std::size_t k = 0; k < count; ++k) {
      if (held[k].read || (guarded && !fresh)) access(held[k], true);
    }
    code.push_back(i);
    for (std::size_t k = 0; k < count; ++k) {
      if (held[k].written) access(held[k], false);
    }
  }

  Draft& draft_;
  SpillArea& area_;
  std::vector<double> cost_, gain_;
  std::vector<std::pair<double, VirtualId>> candidates_;
  std::vector<bool> chosen_;
  std::size_t chosen_count_ = 0;
  std::vector<bool> is_temporary_;  // by VirtualId: made here; lives from one instruction to the next
  std::vector<std::uint64_t> place_;
};

}  // namespace

Fitted fit_registers(Draft& draft, std::uint32_t max_rows, std::uint32_t max_predicates, SpillArea* area,
                     const KeptScalars& kept) {
  Fitted result;
  Liveness liveness;
  const auto look = [&] {
    result.flow = build_flow(draft);
    liveness = find_liveness(draft, result.flow);
    result.allocation = allocate(draft, result.flow, liveness, max_rows, max_predicates, kept);
    result.fits = result.allocation.feasible && result.allocation.registers <= max_rows;
  };
  look();
  if (result.fits || area == nullptr || result.allocation.predicate_pressure > max_predicates ||
      !result.allocation.scalars_fit) {
    return result;
  }
  Spiller spiller(draft, *area);
  // What is live at once may fit and its colouring not: then a little less must be live.
  std::uint32_t rows = max_rows;
  while (!result.fits) {
    while (rows > 0 && spiller.reduce(result.flow, liveness, rows) == 0) --rows;
    if (rows == 0) break;
    look();
  }
  return result;
}

}  // namespace weft::ptx
