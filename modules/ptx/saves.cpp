#include "ptx/saves.h"

#include <algorithm>
#include <cstring>

#include "weft/common/error.h"

namespace weft::ptx {
namespace {

constexpr std::uint64_t kLinkBytes = 8;  // keeps what follows aligned
constexpr unsigned kWordBits = 32;

std::uint64_t link_bytes(const Draft& draft) {
  return draft.frame.is_kernel ? 0 : kLinkBytes;
}

bool is_call(const DraftInstruction& i) {
  return i.fixed.op == Opcode::kCall;
}

std::uint64_t bytes_of_saves(const Draft& draft, const std::vector<VirtualId>& live) {
  std::uint64_t bytes = 0, predicates = 0;
  for (const VirtualId id : live) {
    bytes += 4 * rows_of(draft.registers[id]);
    predicates += draft.registers[id] == RegisterClass::kPredicate;
  }
  return bytes + 4 * ((predicates + kWordBits - 1) / kWordBits);
}

[[noreturn]] void fail_too_many(const Draft& draft, const DraftInstruction& call, std::uint64_t most) {
  const SourcePlace& place = call.fixed.ptx;
  throw InputError(
      draft.files[place.file] + ":" + std::to_string(place.line) + ":" + std::to_string(place.column),
      "the calls of this function save more than " + std::to_string(most) +
          " values together, since so many registers are live across them");
}

// Writes the instructions around one call.
class Saver {
 public:
  Saver(Draft& draft, std::vector<DraftInstruction>& code) : draft_(draft), code_(code) {}

  // Stores before the call (`restore` false) or loads after it. `live` is in the order of its places.
  void run(const DraftInstruction& call, const std::vector<VirtualId>& live, bool restore) {
    call_ = &call;
    place_ = draft_.frame.saves + link_bytes(draft_);
    std::size_t i = 0;
    for (; i < live.size() && draft_.registers[live[i]] != RegisterClass::kPredicate; ++i)
      access(live[i], restore);
    while (i < live.size()) {
      const std::size_t count = std::min<std::size_t>(kWordBits, live.size() - i);
      const std::vector<VirtualId> word(live.begin() + static_cast<std::ptrdiff_t>(i),
                                        live.begin() + static_cast<std::ptrdiff_t>(i + count));
      restore ? unpack(word) : pack(word);
      i += count;
    }
  }

 private:
  DraftInstruction draft(Opcode op, Type type) const {
    DraftInstruction d;
    d.at = call_->at;
    d.fixed.op = op;
    d.fixed.type = d.fixed.from = type;
    d.fixed.ptx = call_->fixed.ptx;
    d.fixed.source = call_->fixed.source;
    d.fixed.latency = op == Opcode::kSelp ? Latency::kMove : Latency::kIntAdd;
    return d;
  }
  VirtualId temporary(RegisterClass kind) {
    draft_.registers.push_back(kind);
    return static_cast<VirtualId>(draft_.registers.size() - 1);
  }
  std::uint16_t constant(std::uint32_t bits) {
    for (std::size_t i = 0; i < draft_.constants.size(); ++i) {
      const auto& lanes = draft_.constants[i].lanes;
      const bool same =
          std::all_of(lanes.begin(), lanes.begin() + 32, [&](auto lane) { return lane == bits; });
      if (same) return static_cast<std::uint16_t>(i);  // upper half: of a wide constant, or not read
    }
    Constant value;
    std::fill(value.lanes.begin(), value.lanes.begin() + 32, bits);
    draft_.constants.push_back(value);
    return static_cast<std::uint16_t>(draft_.constants.size() - 1);
  }
  static void row(DraftInstruction& d, std::size_t i, VirtualId id) {
    d.fixed.src[i].kind = Operand::Kind::kRow;
    d.src[i] = id;
  }
  void literal(DraftInstruction& d, std::size_t i, std::uint32_t bits) {
    d.fixed.src[i].kind = Operand::Kind::kConstant;
    d.fixed.src[i].index = constant(bits);
  }
  static void predicate(DraftInstruction& d, std::size_t i, VirtualId id) {
    d.fixed.src[i].kind = Operand::Kind::kPredicate;
    d.src[i] = id;
  }
  static void result(DraftInstruction& d, VirtualId id, Operand::Kind kind = Operand::Kind::kRow) {
    d.fixed.dst[0].kind = kind;
    d.dst[0] = id;
  }

  void access(VirtualId id, bool restore) {
    code_.push_back(frame_access(draft_, *call_, restore, id, place_));
    place_ += 4 * rows_of(draft_.registers[id]);
  }

  // Predicate k of the word is its bit k.
  void pack(const std::vector<VirtualId>& predicates) {
    VirtualId sum = kNoRegister;
    for (std::size_t k = 0; k < predicates.size(); ++k) {
      const VirtualId bit = temporary(RegisterClass::kSingle);
      DraftInstruction select = draft(Opcode::kSelp, Type::kB32);
      literal(select, 0, 1u << k);
      literal(select, 1, 0);
      predicate(select, 2, predicates[k]);
      result(select, bit);
      code_.push_back(select);
      if (sum == kNoRegister) {
        sum = bit;
        continue;
      }
      DraftInstruction join = draft(Opcode::kOr, Type::kB32);
      const VirtualId joined = temporary(RegisterClass::kSingle);
      row(join, 0, sum);
      row(join, 1, bit);
      result(join, joined);
      code_.push_back(join);
      sum = joined;
    }
    access(sum, false);
  }
  void unpack(const std::vector<VirtualId>& predicates) {
    const VirtualId word = temporary(RegisterClass::kSingle);
    access(word, true);
    for (std::size_t k = 0; k < predicates.size(); ++k) {
      const VirtualId bit = temporary(RegisterClass::kSingle);
      DraftInstruction mask = draft(Opcode::kAnd, Type::kB32);
      row(mask, 0, word);
      literal(mask, 1, 1u << k);
      result(mask, bit);
      code_.push_back(mask);
      DraftInstruction test = draft(Opcode::kSetp, Type::kU32);
      test.fixed.compare = Compare::kNe;
      row(test, 0, bit);
      literal(test, 1, 0);
      result(test, predicates[k], Operand::Kind::kPredicate);
      code_.push_back(test);
    }
  }

  Draft& draft_;
  std::vector<DraftInstruction>& code_;
  const DraftInstruction* call_ = nullptr;
  std::uint64_t place_ = 0;
};

}  // namespace

SavePlan plan_saves(const Draft& draft, const FlowGraph& flow, const Liveness& liveness, std::uint64_t most) {
  SavePlan plan;
  std::uint64_t values = 0;
  std::vector<std::pair<Pc, std::vector<VirtualId>>> found;
  LiveSet live(draft.registers.size());
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    liveness.live_out.enter(b, live);
    for (Pc pc = flow.blocks[b].last + 1; pc-- > flow.blocks[b].first;) {
      const DraftInstruction& i = draft.code[pc];
      if (is_call(i)) {
        values += live.list().size();
        if (values > most) fail_too_many(draft, i, most);
        found.emplace_back(pc, live.list());
      }
      for_each_write(i, [&](VirtualId id) {
        if (overwrites(i)) {
          live.erase(id);
        } else {
          live.insert(id);
        }
      });
      for_each_read(i, [&](VirtualId id) { live.insert(id); });
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto rank = [&](VirtualId id) { return 2 - rows_of(draft.registers[id]); };  // wide ones first
  for (auto& [pc, ids] : found) {
    std::sort(ids.begin(), ids.end(),
              [&](VirtualId a, VirtualId b) { return rank(a) != rank(b) ? rank(a) < rank(b) : a < b; });
    plan.bytes = std::max(plan.bytes, bytes_of_saves(draft, ids));
    plan.live.push_back(std::move(ids));
  }
  plan.bytes += link_bytes(draft);
  return plan;
}

void insert_saves(Draft& draft, const SavePlan& plan) {
  std::vector<DraftInstruction> code;
  code.reserve(draft.code.size() + 8 * plan.live.size());
  std::vector<Pc> moved(draft.code.size());
  Saver saver(draft, code);
  std::size_t call = 0;
  for (Pc pc = 0; pc < draft.code.size(); ++pc) {
    const DraftInstruction i = draft.code[pc];
    moved[pc] = static_cast<Pc>(code.size());
    if (!is_call(i)) {
      code.push_back(i);
      continue;
    }
    saver.run(i, plan.live[call], false);
    code.push_back(i);
    saver.run(i, plan.live[call], true);
    ++call;
  }
  retarget(code, draft.tables, moved);
  draft.code = std::move(code);
}

// A leaf's stack pointer stands at the frame's low end, that of a function which calls others behind it.
DraftInstruction frame_access(const Draft& draft, const DraftInstruction& serves, bool is_load,
                              VirtualId data, std::uint64_t place) {
  const Frame& frame = draft.frame;
  const bool wide = draft.registers[data] == RegisterClass::kDouble;
  DraftInstruction d;
  d.at = serves.at;
  d.fixed.ptx = serves.fixed.ptx;
  d.fixed.source = serves.fixed.source;
  d.fixed.op = is_load ? Opcode::kLd : Opcode::kSt;
  d.fixed.type = d.fixed.from = wide ? Type::kB64 : Type::kB32;
  d.fixed.latency = Latency::kIntAdd;
  d.fixed.unit = Unit::kMemory;
  d.fixed.space = Space::kLocal;
  d.fixed.offset = static_cast<std::int64_t>(place);
  if (!frame.is_kernel) {
    if (frame.calls) d.fixed.offset -= static_cast<std::int64_t>(frame.bytes);
    d.fixed.wide_address = false;
    d.fixed.src[0].kind = Operand::Kind::kRow;
    d.src[0] = kStackPointer;
  }
  if (is_load) {
    d.fixed.dst[0].kind = Operand::Kind::kRow;
    d.dst[0] = data;
  } else {
    d.fixed.src[1].kind = Operand::Kind::kRow;
    d.src[1] = data;
  }
  return d;
}

void retarget(std::vector<DraftInstruction>& code, std::vector<std::vector<Pc>>& tables,
              const std::vector<Pc>& moved) {
  for (DraftInstruction& i : code) {
    if (i.fixed.is_branch()) i.fixed.target = moved[i.fixed.target];
  }
  for (auto& table : tables) {
    for (Pc& target : table) target = moved[target];
  }
}

}  // namespace weft::ptx
