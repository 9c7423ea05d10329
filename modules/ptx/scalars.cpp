#include "ptx/scalars.h"

#include <algorithm>

#include "ptx/meeting.h"

namespace weft::ptx {
namespace {

// Threads may wait here for others of their block or warp, while the others run.
bool is_wait(const Instruction& i) {
  return i.is_barrier() || (i.is_warp_primitive() && i.op != Opcode::kActivemask && !i.needs_original_warp());
}

// %warpid counts warps of 32 threads, which need not be the machine's.
bool differs_by_thread(Special special) {
  switch (special) {
    case Special::kTidX:
    case Special::kTidY:
    case Special::kTidZ:
    case Special::kLaneid:
    case Special::kWarpid:
    case Special::kLanemaskEq:
    case Special::kLanemaskLe:
    case Special::kLanemaskLt:
    case Special::kLanemaskGe:
    case Special::kLanemaskGt:
      return true;
    default:
      return false;
  }
}

class Search {
 public:
  Search(Draft& draft, const FlowGraph& flow, const Liveness& liveness, const Reach& reach,
         const ScalarRule& rule, ScalarWork& work)
      : draft_(draft),
        flow_(flow),
        liveness_(liveness),
        rule_(rule),
        budget_(work),
        waits_(places_with(is_wait, draft, rule.waits, reach)),
        is_vector_(draft.registers.size(), false),
        why_register_(draft.registers.size()),
        why_(draft.code.size()),
        readers_(draft.registers.size()),
        writers_(draft.registers.size()),
        parts_(draft.code.size(), false) {}

  KeptScalars run() {
    for (Pc pc = 0; pc < draft_.code.size(); ++pc) {
      draft_.code[pc].origin = pc;
      for_each_read(draft_.code[pc], [&](VirtualId id) { readers_[id].push_back(pc); });
      for_each_write(draft_.code[pc], [&](VirtualId id) { writers_[id].push_back(pc); });
    }
    for (const VirtualId id : rule_.demoted) make_vector(id, {VectorReason::Kind::kDemoted, {}, 0});
    for (Pc pc = 0; pc < draft_.code.size(); ++pc) {
      const VectorReason reason = own_reason(draft_.code[pc]);
      if (reason.kind != VectorReason::Kind::kNone) make_vector_at(pc, reason);
      look_for_parting(pc);
    }
    follow();
    KeptScalars kept = follow_partings();
    finish();
    return kept;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  using Kind = VectorReason::Kind;

  // What keeps the instruction from being scalar whatever its registers are.
  VectorReason own_reason(const DraftInstruction& d) const {
    const Instruction& i = d.fixed;
    for (std::size_t k = 0; k < i.src.size(); ++k) {
      if (i.src[k].kind == Operand::Kind::kDynamic)
        return {Kind::kClock, static_cast<Special>(i.src[k].index), 0};
      if (d.src[k] == kNoRegister || d.src[k] < kFirstSpecial) continue;
      const Special special = draft_.specials[d.src[k] - kFirstSpecial];
      if (differs_by_thread(special)) return {Kind::kThread, special, 0};
    }
    const auto is_fixed = [](VirtualId id) { return id >= kFirstFixed && id < kFirstSpecial; };
    if (std::any_of(d.src.begin(), d.src.end(), is_fixed) ||
        std::any_of(d.dst.begin(), d.dst.end(), is_fixed))
      return {Kind::kStack, {}, 0};
    if (i.is_warp_primitive()) return {Kind::kLanes, {}, 0};
    if (i.is_image()) return {Kind::kImage, {}, 0};
    switch (i.op) {
      case Opcode::kBra:
      case Opcode::kBrx:
        return {};
      case Opcode::kAtom:
      case Opcode::kRed:
        return {Kind::kAtomic, {}, 0};
      case Opcode::kMembar:
      case Opcode::kCopyAsync:
      case Opcode::kCopyCommit:
      case Opcode::kCopyWait:
        return {Kind::kOrder, {}, 0};
      case Opcode::kLd:
      case Opcode::kSt:
        if (i.space == Space::kLocal) return {Kind::kLocal, {}, 0};
        return {i.is_volatile ? Kind::kOrder : Kind::kNone, {}, 0};
      case Opcode::kCvta:  // the same generic address is another place for each thread
        return {i.space == Space::kLocal && !i.to_space ? Kind::kLocal : Kind::kNone, {}, 0};
      default:
        return {i.is_control() || i.op == Opcode::kNop ? Kind::kControl : Kind::kNone, {}, 0};
    }
  }

  void make_vector(VirtualId id, const VectorReason& reason) {
    if (is_vector_[id]) return;
    is_vector_[id] = true;
    why_register_[id] = reason;
    work_.push_back(id);
  }
  void make_vector_at(Pc pc, const VectorReason& reason) {
    if (why_[pc].kind != Kind::kNone) return;
    why_[pc] = reason;
    for_each_write(draft_.code[pc], [&](VirtualId id) { make_vector(id, {Kind::kWrites, {}, pc}); });
  }

  // Steps 3 and 5 of Fig. 3: from registers to instructions and back.
  void follow() {
    while (!work_.empty()) {
      const VirtualId id = work_.back();
      work_.pop_back();
      const VectorReason reason = why_register_[id];
      for (const Pc pc : writers_[id]) make_vector_at(pc, reason);
      const Pc writer = reason.kind == Kind::kWrites ? reason.at : writers_[id].empty() ? 0 : writers_[id][0];
      for (const Pc pc : readers_[id]) {
        make_vector_at(pc, {Kind::kReads, {}, writer});
        look_for_parting(pc);
      }
    }
  }

  bool reads_vector(const DraftInstruction& d, std::size_t k) const {
    const VirtualId id = d.src[k];
    if (id == kNoRegister) return false;
    if (id >= kFirstSpecial) return differs_by_thread(draft_.specials[id - kFirstSpecial]);
    return id >= kFirstFixed || is_vector_[id];
  }

  // Whether threads of a warp may go different ways from here on, or at different times.
  bool threads_part(Pc pc) const {
    const DraftInstruction& d = draft_.code[pc];
    const bool guarded = d.guard != kNoRegister && is_vector_[d.guard];
    if (d.fixed.is_branch()) return guarded;
    if (d.fixed.op == Opcode::kBrx) return guarded || reads_vector(d, 0);
    if (!waits_[pc]) return false;
    // Threads may leave a function apart that parted in it.
    if (guarded || d.fixed.op == Opcode::kCall) return true;
    return d.fixed.is_barrier() && (reads_vector(d, 0) || reads_vector(d, 1));
  }
  void look_for_parting(Pc pc) {
    if (parts_[pc] || !threads_part(pc)) return;
    parts_[pc] = true;
    parting_.push_back(pc);
  }

  // Registers that are still scalar get numbers, and each block the sets of them.
  void number_scalars() {
    number_.assign(draft_.registers.size(), kNone);
    for (VirtualId id = 0; id < draft_.registers.size(); ++id) {
      if (is_vector_[id] || (writers_[id].empty() && readers_[id].empty())) continue;
      number_[id] = static_cast<std::uint32_t>(scalars_.size());
      scalars_.push_back(id);
    }
  }
  BlockValues find_values() const {
    BlockValues values(flow_.blocks.size(), scalars_.size());
    LiveSet live(draft_.registers.size());
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      const auto note = [&](VirtualId id, BlockSets& set) {
        if (number_[id] != kNone) set.insert(b, number_[id]);
      };
      liveness_.live_out.enter(b, live);
      for (const VirtualId id : live.list()) note(id, values.ever_live);
      for (Pc pc = flow_.blocks[b].last + 1; pc-- > flow_.blocks[b].first;) {
        const DraftInstruction& i = draft_.code[pc];
        for_each_write(i, [&](VirtualId id) { note(id, values.written); });
        step_back(i, live);
        for_each_read(i, [&](VirtualId id) { note(id, values.ever_live); });
        if (!overwrites(i)) for_each_write(i, [&](VirtualId id) { note(id, values.ever_live); });
      }
      for (const VirtualId id : live.list()) note(id, values.live_in);
    }
    return values;
  }

  // Step 4. What others need is not written; under the restricted rule nothing is scalar where threads may
  // have parted.
  KeptScalars follow_partings() {
    number_scalars();
    const std::size_t blocks = flow_.blocks.size();
    budget_.take(draft_.code.size() + kSets * blocks * (1 + scalars_.size() / 64));
    if (budget_.is_used_up() || kSets * blocks * scalars_.size() > kMostBits)
      return give_up(), KeptScalars(blocks);
    const BlockValues values = find_values();
    std::vector<bool> waiting_blocks(blocks, false);
    for (Pc pc = 0; pc < draft_.code.size(); ++pc) {
      if (waits_[pc]) waiting_blocks[flow_.block_of[pc]] = true;
    }
    Partings partings(flow_, values, waiting_blocks, budget_);
    do {
      while (!parting_.empty()) {
        const Pc pc = parting_.back();
        const bool at_end = draft_.code[pc].fixed.is_branch() || draft_.code[pc].fixed.op == Opcode::kBrx;
        const std::uint32_t block = flow_.block_of[pc];
        parting_.pop_back();
        at_end ? partings.part_after(block) : partings.part_at(block);
      }
      partings.spread([&](std::uint32_t block, std::uint32_t cause) {
        const Pc at = flow_.blocks[cause].last;
        if (rule_.kind == Scalarization::kRestricted) return restrict_block(block, at);
        for_each_number(values.written[block], partings.kept().words(), [&](std::size_t number) {
          if (partings.kept().contains(block, number)) make_vector(scalars_[number], {Kind::kParted, {}, at});
        });
      });
      follow();
      if (budget_.is_used_up()) return give_up(), KeptScalars(blocks);
      part_by_masks(partings);
    } while (!parting_.empty());
    return list_kept(partings.kept());
  }

  // By block, those that are still scalar.
  KeptScalars list_kept(const BlockSets& sets) {
    KeptScalars kept(flow_.blocks.size());
    std::size_t count = 0;
    for (std::size_t b = 0; b < kept.size(); ++b) {
      for_each_number(sets[b], sets.words(), [&](std::size_t number) {
        if (!is_vector_[scalars_[number]]) kept[b].push_back(scalars_[number]);
      });
      count += kept[b].size();
      if (count > kMostKept) return give_up(), KeptScalars(kept.size());
    }
    return kept;
  }

  // Where threads may have parted, those at one primitive may name different others in their masks, and go on
  // at different times.
  void part_by_masks(const Partings& partings) {
    for (Pc pc = 0; pc < draft_.code.size(); ++pc) {
      const DraftInstruction& d = draft_.code[pc];
      if (parts_[pc] || !waits_[pc] || !d.fixed.is_warp_primitive()) continue;
      if (!partings.exposed(flow_.block_of[pc]) || !reads_vector(d, 3)) continue;
      parts_[pc] = true;
      parting_.push_back(pc);
    }
  }

  template <class Visit>
  static void for_each_number(const std::uint64_t* set, std::size_t words, Visit visit) {
    for (std::size_t w = 0; w < words; ++w) {
      for (std::uint64_t rest = set[w]; rest != 0; rest &= rest - 1)
        visit(64 * w + static_cast<std::size_t>(__builtin_ctzll(rest)));
    }
  }

  void restrict_block(std::uint32_t block, Pc at) {
    for (Pc pc = flow_.blocks[block].first; pc <= flow_.blocks[block].last; ++pc)
      make_vector_at(pc, {Kind::kRestricted, {}, at});
  }

  void give_up() {
    for (Pc pc = 0; pc < draft_.code.size(); ++pc) make_vector_at(pc, {Kind::kLarge, {}, 0});
    is_vector_.assign(draft_.registers.size(), true);
    work_.clear();
  }

  void finish() {
    draft_.scalar.assign(draft_.registers.size(), false);
    for (VirtualId id = 0; id < draft_.registers.size(); ++id) draft_.scalar[id] = !is_vector_[id];
    for (Pc pc = 0; pc < draft_.code.size(); ++pc)
      draft_.code[pc].fixed.scalar = why_[pc].kind == Kind::kNone;
    draft_.why_vector = std::move(why_);
  }

  static constexpr std::size_t kSets = 4;             // of registers for each block: three values, and kept
  static constexpr std::size_t kMostBits = 1u << 28;  // of all of them: 32 MiB
  static constexpr std::size_t kMostKept = 1u << 23;  // registers in the lists of all blocks: 32 MiB

  Draft& draft_;
  const FlowGraph& flow_;
  const Liveness& liveness_;
  const ScalarRule& rule_;
  ScalarWork& budget_;
  const std::vector<bool> waits_;                   // by PC
  std::vector<bool> is_vector_;                     // by register
  std::vector<VectorReason> why_register_, why_;    // by register, by PC
  std::vector<std::vector<Pc>> readers_, writers_;  // by register
  std::vector<bool> parts_;                         // by PC: in parting_, or was
  std::vector<Pc> parting_;                         // where threads may part, not looked at yet
  std::vector<VirtualId> work_;                     // vector registers, not looked at yet
  std::vector<std::uint32_t> number_;               // by register
  std::vector<VirtualId> scalars_;                  // by number
};

}  // namespace

std::vector<bool> with_waits(const std::vector<const Draft*>& functions, const Reach& reach) {
  return functions_with(is_wait, functions, reach);
}

bool is_beyond_scalars(const Liveness& liveness) {
  constexpr std::uint64_t kMostLive = 1u << 21;  // each costs some 10 bytes while webs are split
  return liveness.live_out.size() > kMostLive;
}

void leave_without_scalars(Draft& draft) {
  draft.scalar.assign(draft.registers.size(), false);
  draft.why_vector.assign(draft.code.size(), {VectorReason::Kind::kLarge, {}, 0});
  for (Pc pc = 0; pc < draft.code.size(); ++pc) {
    draft.code[pc].origin = pc;
    draft.code[pc].fixed.scalar = false;
  }
}

KeptScalars find_scalars(Draft& draft, const FlowGraph& flow, const Liveness& liveness, const Reach& reach,
                         const ScalarRule& rule, ScalarWork& work) {
  return Search(draft, flow, liveness, reach, rule, work).run();
}

std::string describe(const VectorReason& reason, Pc at) {
  using Kind = VectorReason::Kind;
  const std::string place = std::to_string(at);
  switch (reason.kind) {
    case Kind::kNone:
      return "";
    case Kind::kControl:
      return "is done by each thread";
    case Kind::kThread:
      return std::string(name_of(reason.special)) + " differs by thread";
    case Kind::kClock:
      return std::string(name_of(reason.special)) + " changes with time";
    case Kind::kLocal:
      return "local memory is the thread's own";
    case Kind::kOrder:
      return "memory order";
    case Kind::kAtomic:
      return "atomic";
    case Kind::kLanes:
      return "works across lanes";
    case Kind::kImage:
      return "image";
    case Kind::kStack:
      return "the stack is the thread's own";
    case Kind::kReads:
      return "reads what " + place + " writes";
    case Kind::kWrites:
      return "writes what " + place + " writes too";
    case Kind::kParted:
      return "writes what threads may need that diverge after " + place;
    case Kind::kDemoted:
      return "no scalar register is left";
    case Kind::kRestricted:
      return "threads may have diverged after " + place;
    case Kind::kLarge:
      return "the kernel is too large for the search";
  }
  return "";
}

}  // namespace weft::ptx
