// Modifiers of memory instructions. Order and scope have no effect on device memory, whose image is updated
// at issue, in order; accesses to system memory follow them. Loads with .cg and .cv go past the L1. Hints of
// priority have no effect.
#include <algorithm>

#include "ptx/operation_readers.h"

namespace weft::ptx {
namespace {

// Modifiers come in several orders (nvcc: atom.add.acq_rel.cta.u64, clang: atom.global.sys.add.u32); what PTX
// fixes is that each group appears at most once.
class Groups {
 public:
  explicit Groups(Modifiers& m) : m_(m) {}
  // True if the next word belongs to the group; an error if the group was there already.
  bool one(unsigned group, std::initializer_list<std::string_view> words) {
    const std::string_view word = m_.peek();
    if (std::find(words.begin(), words.end(), word) == words.end()) return false;
    if (seen_ >> group & 1) m_.illegal("." + std::string(word) + " contradicts an earlier modifier");
    seen_ |= 1u << group;
    m_.next();
    return true;
  }
  bool seen(unsigned group) const { return seen_ >> group & 1; }

 private:
  Modifiers& m_;
  unsigned seen_ = 0;
};

enum Group : unsigned {
  kOrder,
  kVolatile,
  kScope,
  kSpace,
  kCache,
  kNonCoherent,
  kVector,
  kOperation,
  kL1Priority,
  kL2Priority,
  kPrefetchSize,
  kPolicy,
  kMapped,
};

bool take_space(Modifiers& m, Groups& groups, Instruction& i) {
  const std::string_view word = m.peek();
  if (!groups.one(kSpace, {"global", "shared", "shared::cta", "shared::cluster", "local", "const", "param",
                           "param::entry", "param::func"}))
    return false;
  i.space = word == "global"  ? Space::kGlobal
            : word == "local" ? Space::kLocal
            : word == "const" ? Space::kConst
            : word[0] == 's'  ? Space::kShared
                              : Space::kParam;
  return true;
}

// Hints to the caches have no effect here. .L2::cache_hint brings an operand more, a policy.
bool take_policy(Groups& groups, Operation& o) {
  if (!groups.one(kPolicy, {"L2::cache_hint"})) return false;
  o.has_policy = true;
  return true;
}
bool take_prefetch_size(Groups& groups) {
  return groups.one(kPrefetchSize, {"L2::64B", "L2::128B", "L2::256B"});
}
bool take_hint(Groups& groups, Operation& o) {
  return groups.one(kL1Priority, {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                                  "L1::evict_last", "L1::no_allocate"}) ||
         groups.one(kL2Priority, {"L2::evict_normal", "L2::evict_first", "L2::evict_last"}) ||
         take_policy(groups, o);
}
// 9.7.9.8, 9.7.14.5: policies and priorities of L2 belong to global memory.
void check_hints(Modifiers& m, const Groups& groups, const Instruction& i) {
  if (!groups.seen(kPolicy) && !groups.seen(kL2Priority)) return;
  if (i.space != Space::kGeneric && i.space != Space::kGlobal) m.illegal("a hint to L2 needs .global");
  if (groups.seen(kVolatile)) m.illegal(".volatile takes no hint to L2");
  if (groups.seen(kL2Priority) && bytes_of(i.type) * i.vector != 32)
    m.illegal("a priority in L2 needs an access of 32 bytes");
}

bool take_vector(Modifiers& m, Groups& groups, Instruction& i) {
  const std::string_view word = m.peek();
  if (!groups.one(kVector, {"v2", "v4", "v8"})) return false;
  i.vector = static_cast<std::uint8_t>(word[1] - '0');
  return true;
}

void check_order(Modifiers& m, const Groups& groups) {
  if (groups.seen(kVolatile) && (groups.seen(kOrder) || groups.seen(kScope) || groups.seen(kCache))) {
    m.illegal(".volatile takes no order, scope or cache operator");
  }
  if (groups.seen(kOrder) && !groups.seen(kScope))
    m.illegal("a scope (.cta, .cluster, .gpu or .sys) is missing");
  if (groups.seen(kScope) && !groups.seen(kOrder)) m.illegal("a scope needs an order such as .relaxed");
}

// The group's next word, of an order or a scope.
bool take_order(Modifiers& m, Groups& groups, Instruction& i, std::initializer_list<std::string_view> words) {
  const std::string_view word = m.peek();
  if (!groups.one(kOrder, words)) return false;
  i.acquires = word[0] == 'a';  // acquire, acq_rel
  i.releases = word == "release" || word == "acq_rel";
  return true;
}
bool take_scope(Modifiers& m, Groups& groups, Instruction& i) {
  const std::string_view word = m.peek();
  if (!groups.one(kScope, {"cta", "cluster", "gpu", "sys"})) return false;
  i.system_scope = word == "sys";
  return true;
}
// 32 bytes (PTX 8.8) in global memory only, as .v8 of 32 bits or .v4 of 64 bits.
void check_vector(Modifiers& m, const Instruction& i) {
  const unsigned bytes = bytes_of(i.type);
  const bool global = i.space == Space::kGeneric || i.space == Space::kGlobal;
  if (bytes * i.vector == 32 && bytes >= 4 && global) return;
  if (bytes * i.vector == 32 && bytes >= 4) m.illegal("an access of 32 bytes needs .global");
  if (bytes * i.vector > 16) m.illegal("a vector access has at most 16 bytes");
  if (i.vector == 8) m.illegal(".v8 needs a type of 32 bits");
}

// .mmio: as .relaxed.sys, which an access of system memory follows.
void check_mapped(Modifiers& m, const Groups& groups, const Instruction& i) {
  if (groups.seen(kMapped) && !(groups.seen(kOrder) && i.system_scope && !i.acquires && !i.releases))
    m.illegal(".mmio needs .relaxed.sys");
}

constexpr TypeSet kMemoryTypes = kBytes | kBits | kIntegers | kFloats;

// 9.7.13.5: up to 16 bytes in global memory, each element an atomic of its own.
void check_atomic_vector(Modifiers& m, const Instruction& i) {
  if (i.vector == 1) return;
  const bool adds = i.atomic == Atomic::kAdd || i.atomic == Atomic::kMin || i.atomic == Atomic::kMax;
  if (!adds) m.illegal("only .add, .min and .max take a vector");
  if (i.space != Space::kGeneric && i.space != Space::kGlobal) m.illegal("a vector needs .global");
  if (bytes_of(i.type) * i.vector > 16) m.illegal("a vector of this type has at most 16 bytes");
}

}  // namespace

void read_load(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  Groups groups(m);
  while (!m.done()) {
    i.fresh = i.fresh || m.peek() == "cv";
    // 9.7.9.1: .cg caches in L2 and below only, and .cv fetches again.
    if (m.peek() == "cg" || m.peek() == "cv") i.mode = Mode::kPastL1;
    const bool taken = take_order(m, groups, i, {"relaxed", "acquire"}) || m.take("weak") ||
                       groups.one(kVolatile, {"volatile"}) || take_scope(m, groups, i) ||
                       take_space(m, groups, i) || groups.one(kCache, {"ca", "cg", "cs", "lu", "cv"}) ||
                       groups.one(kNonCoherent, {"nc"}) || groups.one(kMapped, {"mmio"}) ||
                       take_hint(groups, o) || take_prefetch_size(groups) || take_vector(m, groups, i);
    if (!taken) break;
  }
  i.type = m.type(kMemoryTypes);
  i.is_volatile = groups.seen(kVolatile);
  i.fresh = i.fresh || i.is_volatile || i.system_scope;
  i.non_coherent = groups.seen(kNonCoherent);
  if (groups.seen(kOrder)) i.mode = Mode::kAll;
  i.constant_cache = i.space == Space::kParam || i.space == Space::kConst;
  check_order(m, groups);
  check_vector(m, i);
  check_hints(m, groups, i);
  check_mapped(m, groups, i);
  if (i.non_coherent && i.space != Space::kGlobal) m.illegal(".nc needs .global");
  o.shape = Shape::kLoad;
}

// ldu{.global}: data that are the same for all threads and do not change.
void read_uniform_load(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  Groups groups(m);
  m.take({{"global", Space::kGlobal}}, i.space);
  take_vector(m, groups, i);
  i.type = m.type(kMemoryTypes);
  check_vector(m, i);
  if (bytes_of(i.type) * i.vector > 16) m.illegal("a vector access has at most 16 bytes");
  o.shape = Shape::kLoad;
}

void read_store(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  Groups groups(m);
  while (!m.done()) {
    const bool taken = take_order(m, groups, i, {"relaxed", "release"}) || m.take("weak") ||
                       groups.one(kVolatile, {"volatile"}) || take_scope(m, groups, i) ||
                       take_space(m, groups, i) || groups.one(kCache, {"wb", "cg", "cs", "wt"}) ||
                       groups.one(kMapped, {"mmio"}) || take_hint(groups, o) || take_vector(m, groups, i);
    if (!taken) break;
  }
  i.type = m.type(kMemoryTypes);
  i.is_volatile = groups.seen(kVolatile);
  if (groups.seen(kOrder)) i.mode = Mode::kAll;
  check_order(m, groups);
  check_vector(m, i);
  check_hints(m, groups, i);
  check_mapped(m, groups, i);
  if (i.space == Space::kConst) m.illegal("constant memory cannot be written");
  o.shape = Shape::kStore;
}

void read_atomic(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  const bool reduces = i.op == Opcode::kRed;
  const bool keeps_subnormals = m.take("noftz");
  Groups groups(m);
  while (!m.done()) {
    const std::string_view word = m.peek();
    if (groups.one(kOperation, {"add", "min", "max", "inc", "dec", "exch", "cas", "and", "or", "xor"})) {
      i.atomic = word == "add"    ? Atomic::kAdd
                 : word == "min"  ? Atomic::kMin
                 : word == "max"  ? Atomic::kMax
                 : word == "inc"  ? Atomic::kInc
                 : word == "dec"  ? Atomic::kDec
                 : word == "exch" ? Atomic::kExch
                 : word == "cas"  ? Atomic::kCas
                 : word == "and"  ? Atomic::kAnd
                 : word == "or"   ? Atomic::kOr
                                  : Atomic::kXor;
      continue;
    }
    const bool taken = take_order(m, groups, i, {"relaxed", "acquire", "release", "acq_rel"}) ||
                       take_scope(m, groups, i) || take_space(m, groups, i) || take_policy(groups, o) ||
                       take_vector(m, groups, i);
    if (!taken) break;
  }
  if (!groups.seen(kOperation)) m.unexpected("an operation such as .add");
  if (i.space != Space::kGeneric && i.space != Space::kGlobal && i.space != Space::kShared) {
    m.illegal("an atomic needs .global, .shared or a generic address");
  }
  constexpr TypeSet kWords = set_of(Type::kU32, Type::kU64, Type::kS32, Type::kS64);
  constexpr TypeSet kBitWords = set_of(Type::kB32, Type::kB64);
  switch (i.atomic) {
    case Atomic::kAdd:
    case Atomic::kMin:
    case Atomic::kMax: {
      // 9.7.13.5: operations on 16-bit floats say that they keep subnormals.
      const bool adds = i.atomic == Atomic::kAdd;
      if (keeps_subnormals) {
        i.type = m.type(kHalves);
        if (!adds && i.vector == 1) m.illegal("min and max of 16-bit floats need a vector such as .v2");
      } else {
        if (is_in(type_of(m.peek()), kHalves)) m.illegal("an atomic on 16-bit floats needs .noftz");
        i.type = m.type(i.vector != 1 ? set_of(Type::kF32) : adds ? kWords | kFloats : kWords);
        if (!adds && i.vector != 1) m.illegal("vectors of .f32 are added only");
      }
      break;
    }
    case Atomic::kInc:
    case Atomic::kDec:
      i.type = m.type(set_of(Type::kU32));
      break;
    case Atomic::kExch:
    case Atomic::kCas:
      if (reduces) m.illegal("red has no .exch and no .cas");
      i.type = m.type(i.atomic == Atomic::kCas ? kBitWords | set_of(Type::kB16) : kBitWords);
      break;
    default:
      i.type = m.type(kBitWords);
  }
  if (keeps_subnormals && !is_in(i.type, kHalves)) m.illegal(".noftz needs a 16-bit float");
  check_atomic_vector(m, i);
  check_hints(m, groups, i);
  if (o.has_policy && i.atomic == Atomic::kCas) m.illegal("a comparison and exchange takes no policy");
  o.shape = reduces ? Shape::kReduce : Shape::kAtomic;
}

void read_convert_address(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  i.to_space = m.take("to");
  m.need({{"global", Space::kGlobal},
          {"shared", Space::kShared},
          {"shared::cta", Space::kShared},
          {"shared::cluster", Space::kShared},
          {"local", Space::kLocal},
          {"param", Space::kParam},
          {"param::entry", Space::kParam},
          {"const", Space::kConst}},
         i.space);
  i.type = m.type(set_of(Type::kU64));
  o.shape = Shape::kMove;
  signature(o, i.type, {i.type});
}

// Proxies are ways to memory beside the plain one: aliased addresses, asynchronous copies, tensor maps. Here
// all see one image, in which accesses take effect at issue.
bool read_proxy(Modifiers& m, Operation& o) {
  bool ignored = true;
  if (m.take("mbarrier_init")) {
    m.need({{"release", true}}, ignored);
    m.need({{"cluster", true}}, ignored);
    return true;
  }
  if (!m.take("proxy")) return false;
  if (m.take("tensormap::generic")) {
    m.need({{"release", false}, {"acquire", true}}, ignored);
    o.source_count = ignored ? 2 : 0;  // acquire: [address], size
    m.need({{"cta", false}, {"cluster", false}, {"gpu", false}, {"sys", true}}, o.instruction.system_scope);
  } else if (m.take("async::generic")) {
    m.need({{"acquire", true}, {"release", true}}, ignored);
    m.need({{"sync_restrict::shared::cluster", true}, {"sync_restrict::shared::cta", true}}, ignored);
    m.need({{"cluster", true}}, ignored);
  } else {
    const bool async = m.has("async");
    m.need({{"alias", true}, {"async", true}}, ignored);
    if (async) m.take({{"global", true}, {"shared::cta", true}, {"shared::cluster", true}}, ignored);
  }
  return true;
}

void read_fence(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  i.acquires = i.releases = true;
  o.shape = Shape::kFence;
  if (read_proxy(m, o)) return;
  const bool membar = m.mnemonic() == "membar";
  bool ignored = true;
  if (!membar) {
    m.take({{"sc", true}, {"acq_rel", true}, {"acquire", true}, {"release", true}}, ignored);
    m.take({{"sync_restrict::shared::cluster", true}, {"sync_restrict::shared::cta", true}}, ignored);
  }
  if (m.peek() != "cta") i.mode = Mode::kAll;
  if (membar) {
    m.need({{"cta", false}, {"gl", false}, {"sys", true}}, i.system_scope);
  } else {
    m.need({{"cta", false}, {"cluster", false}, {"gpu", false}, {"sys", true}}, i.system_scope);
  }
}

// 9.7.9.25: cp.async.{ca,cg}.shared.global, cp.async.commit_group, .wait_group, .wait_all.
void read_copy_async(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  if (m.has("reduce")) m.not_executable(".reduce.async.bulk", kOlderCodeHelps);
  if (!m.take("async")) m.unexpected(".async");
  i.type = Type::kB32;
  o.shape = Shape::kCopyWait;
  for (const char* later : {"bulk", "mbarrier"}) {
    if (m.has(later)) m.not_executable(".async." + std::string(later), kOlderCodeHelps);
  }
  if (m.take("commit_group")) {
    i.op = Opcode::kCopyCommit;
    return;
  }
  if (m.take({{"wait_group", Mode::kNone}, {"wait_all", Mode::kAll}}, i.mode)) {
    i.op = Opcode::kCopyWait;
    return;
  }
  m.need({{"ca", Mode::kNone}, {"cg", Mode::kPastL1}}, i.mode);
  Space to = Space::kGlobal, from = Space::kShared;
  const std::initializer_list<std::pair<std::string_view, Space>> spaces = {
      {"shared", Space::kShared}, {"shared::cta", Space::kShared}, {"global", Space::kGlobal}};
  m.need(spaces, to);
  m.need(spaces, from);
  if (to != Space::kShared || from != Space::kGlobal)
    m.illegal("cp.async copies from .global to .shared, in this order: .shared.global");
  Groups groups(m);
  while (take_policy(groups, o) || take_prefetch_size(groups)) {
  }
  i.space = Space::kGlobal;
  o.shape = Shape::kCopyAsync;
}

}  // namespace weft::ptx
