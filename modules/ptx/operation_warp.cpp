// Warp-level primitives and barriers (PTX ISA 9.0, sections 9.7.9 and 9.7.13).
#include "ptx/operation_readers.h"

namespace weft::ptx {
namespace {

constexpr TypeSet kWord = set_of(Type::kB32);

}  // namespace

void read_shfl(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  const bool sync = m.take("sync");
  m.need({{"up", Mode::kUp}, {"down", Mode::kDown}, {"bfly", Mode::kBfly}, {"idx", Mode::kIdx}}, i.mode);
  i.type = m.type(kWord);
  o.shape = Shape::kWarp;
  if (sync) {
    signature(o, i.type, {i.type, Type::kU32, Type::kU32, Type::kB32});
  } else {
    signature(o, i.type, {i.type, Type::kU32, Type::kU32});
  }
}

// vote.sync.any.pred, and vote.any.sync.pred as some compilers write it.
void read_vote(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  bool sync = m.take("sync");
  m.need({{"all", Mode::kAll}, {"any", Mode::kAny}, {"uni", Mode::kUni}, {"ballot", Mode::kBallot}}, i.mode);
  sync = m.take("sync") || sync;
  i.type = m.type(i.mode == Mode::kBallot ? kWord : kPredicateType);
  o.shape = Shape::kWarp;
  if (sync) {
    signature(o, i.type, {Type::kPred, Type::kB32});
  } else {
    signature(o, i.type, {Type::kPred});
  }
}

void read_match(Modifiers& m, Operation& o) {  // match.any.sync.b64, match.sync.any.b64
  Instruction& i = o.instruction;
  bool sync = m.take("sync");
  m.need({{"any", Mode::kAny}, {"all", Mode::kAll}}, i.mode);
  sync = m.take("sync") || sync;
  if (!sync) m.illegal(".sync is missing");
  i.type = m.type(set_of(Type::kB32, Type::kB64));
  o.shape = Shape::kWarp;
  signature(o, Type::kB32, {i.type, Type::kB32});
}

void read_redux(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  if (!m.take("sync")) m.unexpected(".sync");
  m.need({{"add", Atomic::kAdd},
          {"min", Atomic::kMin},
          {"max", Atomic::kMax},
          {"and", Atomic::kAnd},
          {"or", Atomic::kOr},
          {"xor", Atomic::kXor}},
         i.atomic);
  const bool bits = i.atomic == Atomic::kAnd || i.atomic == Atomic::kOr || i.atomic == Atomic::kXor;
  if (!bits && (m.peek() == "f32" || m.peek() == "abs")) {
    m.not_executable(" of floating-point numbers", kOlderCodeHelps);
  }
  i.type = m.type(bits ? kWord : set_of(Type::kU32, Type::kS32));
  o.shape = Shape::kWarp;
  signature(o, i.type, {i.type, Type::kB32});
}

void read_activemask(Modifiers& m, Operation& o) {
  o.instruction.type = m.type(kWord);
  o.shape = Shape::kWarp;
  signature(o, Type::kB32, {});
}

void read_elect(Modifiers& m, Operation& o) {
  if (!m.take("sync")) m.unexpected(".sync");
  o.instruction.type = Type::kB32;
  o.shape = Shape::kWarp;
  signature(o, Type::kB32, {Type::kB32});
}

void read_barrier(Modifiers& m, Operation& o) {  // bar, barrier; .cta is the default
  Instruction& i = o.instruction;
  if (m.mnemonic() == "bar" && m.take("warp")) {
    if (!m.take("sync")) m.unexpected(".sync");
    i.op = Opcode::kWarpBarrier;
    o.shape = Shape::kWarp;
    return signature(o, Type::kNone, {Type::kB32});
  }
  if (m.mnemonic() == "barrier" && m.take("cluster")) return read_cluster_barrier(m, o);
  m.take("cta");
  enum class What { kSync, kArrive, kRed } what = What::kSync;
  m.need({{"sync", What::kSync}, {"arrive", What::kArrive}, {"red", What::kRed}}, what);
  i.type = Type::kNone;
  if (what == What::kArrive) i.barrier = BarrierKind::kArrive;
  if (what == What::kRed) {
    m.need({{"and", BarrierKind::kRedAnd}, {"or", BarrierKind::kRedOr}, {"popc", BarrierKind::kRedPopc}},
           i.barrier);
  }
  const bool aligned = m.take("aligned");
  i.uniform = aligned || m.mnemonic() == "bar";  // 9.7.13.1: bar is barrier.aligned
  if (what == What::kRed)
    i.type = m.type(i.barrier == BarrierKind::kRedPopc ? set_of(Type::kU32) : kPredicateType);
  o.shape = Shape::kBarrier;
}

}  // namespace weft::ptx
