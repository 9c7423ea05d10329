// Instructions of newer machines that say nothing about values here: lower_newer.cpp.
#include "ptx/operation_readers.h"

namespace weft::ptx {
namespace {

enum class Word { kIgnored };

bool take_priority(Modifiers& m) {
  Word ignored = Word::kIgnored;
  return m.take({{"L2::evict_last", Word::kIgnored},
                 {"L2::evict_normal", Word::kIgnored},
                 {"L2::evict_first", Word::kIgnored},
                 {"L2::evict_unchanged", Word::kIgnored}},
                ignored);
}

}  // namespace

// createpolicy.fractional.priority{.priority}.b64, .range{.global}.priority{.priority}.b64, .cvt.L2.b64
void read_policy(Modifiers& m, Operation& o) {
  Word ignored = Word::kIgnored;
  enum class Kind { kFractional, kRange, kConvert } kind = Kind::kFractional;
  m.need({{"fractional", Kind::kFractional}, {"range", Kind::kRange}, {"cvt", Kind::kConvert}}, kind);
  if (kind == Kind::kConvert) {
    m.need({{"L2", Word::kIgnored}}, ignored);
  } else {
    if (kind == Kind::kRange) m.take({{"global", Word::kIgnored}}, ignored);
    if (!take_priority(m)) m.unexpected("a priority such as .L2::evict_last");
    take_priority(m);
  }
  o.instruction.type = m.type(set_of(Type::kB64));
  o.shape = Shape::kPolicy;
  if (kind == Kind::kRange) return signature(o, Type::kB64, {Type::kU64, Type::kU32, Type::kU32});
  signature(o, Type::kB64, {kind == Kind::kConvert ? Type::kB64 : Type::kF32});
}

void read_map_address(Modifiers& m, Operation& o) {  // mapa
  Word ignored = Word::kIgnored;
  m.take({{"shared::cluster", Word::kIgnored}}, ignored);
  o.instruction.type = m.type(set_of(Type::kU32, Type::kU64));
  o.shape = Shape::kMapAddress;
}

void read_cluster_rank(Modifiers& m, Operation& o) {  // getctarank
  Word ignored = Word::kIgnored;
  m.take({{"shared::cluster", Word::kIgnored}}, ignored);
  o.instruction.type = m.type(set_of(Type::kU32, Type::kU64));
  o.shape = Shape::kClusterRank;
  signature(o, Type::kU32, {o.instruction.type});
}

// barrier.cluster.arrive{.release|.relaxed}{.aligned}, .wait{.acquire}{.aligned}
void read_cluster_barrier(Modifiers& m, Operation& o) {
  Word ignored = Word::kIgnored;
  bool waits = false;
  m.need({{"arrive", false}, {"wait", true}}, waits);
  if (waits) {
    m.take({{"acquire", Word::kIgnored}}, ignored);
  } else {
    m.take({{"release", Word::kIgnored}, {"relaxed", Word::kIgnored}}, ignored);
  }
  m.take("aligned");
  o.instruction.type = Type::kNone;
  o.shape = waits ? Shape::kClusterWait : Shape::kEvent;
}

void read_discard(Modifiers& m, Operation& o) {
  Word ignored = Word::kIgnored;
  m.take({{"global", Space::kGlobal}}, o.instruction.space);
  m.need({{"L2", Word::kIgnored}}, ignored);
  o.instruction.type = Type::kU64;
  o.shape = Shape::kPrefetch;
  o.source_count = 2;
}

void read_grid_dependency(Modifiers& m, Operation& o) {  // griddepcontrol
  Word ignored = Word::kIgnored;
  m.need({{"launch_dependents", Word::kIgnored}, {"wait", Word::kIgnored}}, ignored);
  o.shape = Shape::kEvent;
}

void read_performance_event(Modifiers& m, Operation& o) {  // pmevent 7, pmevent.mask 0xff
  const bool mask = m.take("mask");
  o.shape = Shape::kEvent;
  signature(o, Type::kNone, {mask ? Type::kU16 : Type::kU8});
}

void read_register_limit(Modifiers& m, Operation& o) {  // setmaxnreg
  Word ignored = Word::kIgnored;
  m.need({{"inc", Word::kIgnored}, {"dec", Word::kIgnored}}, ignored);
  m.need({{"sync", Word::kIgnored}}, ignored);
  m.need({{"aligned", Word::kIgnored}}, ignored);
  m.type(set_of(Type::kU32));
  o.shape = Shape::kEvent;
  signature(o, Type::kNone, {Type::kU32});
}

}  // namespace weft::ptx
