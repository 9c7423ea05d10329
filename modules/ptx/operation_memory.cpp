// Modifiers of memory instructions. Order and scope have no effect on device memory, whose image is updated
// at issue, in order; accesses to system memory follow them. Cache hints have none.
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

enum Group : unsigned { kOrder, kVolatile, kScope, kSpace, kCache, kNonCoherent, kVector, kOperation, kHint };

bool take_space(Modifiers& m, Groups& groups, Instruction& i) {
  const std::string_view word = m.peek();
  if (!groups.one(kSpace, {"global", "shared", "shared::cta", "local", "const", "param", "param::entry",
                           "param::func"}))
    return false;
  i.space = word == "global"  ? Space::kGlobal
            : word == "local" ? Space::kLocal
            : word == "const" ? Space::kConst
            : word[0] == 's'  ? Space::kShared
                              : Space::kParam;
  return true;
}

bool take_hint(Modifiers& m) {  // .L1::evict_last, .L2::128B: no operand, no effect here
  const std::string_view word = m.peek();
  if (word.substr(0, 4) != "L1::" && word.substr(0, 4) != "L2::") return false;
  if (word == "L2::cache_hint") m.not_executable(" with .L2::cache_hint");
  m.next();
  return true;
}

bool take_vector(Modifiers& m, Groups& groups, Instruction& i) {
  const std::string_view word = m.peek();
  if (!groups.one(kVector, {"v2", "v4"})) return false;
  i.vector = word == "v2" ? 2 : 4;
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
void check_vector(Modifiers& m, const Instruction& i) {
  if (bytes_of(i.type) * i.vector > 16) m.illegal("a vector access has at most 16 bytes");
}

constexpr TypeSet kMemoryTypes = kBytes | kBits | kIntegers | kFloats;

}  // namespace

void read_load(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  Groups groups(m);
  while (!m.done()) {
    i.fresh = i.fresh || m.peek() == "cv";
    const bool taken = take_order(m, groups, i, {"relaxed", "acquire"}) || m.take("weak") ||
                       groups.one(kVolatile, {"volatile"}) || take_scope(m, groups, i) ||
                       take_space(m, groups, i) || groups.one(kCache, {"ca", "cg", "cs", "lu", "cv"}) ||
                       groups.one(kNonCoherent, {"nc"}) || take_hint(m) || take_vector(m, groups, i);
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
  if (i.non_coherent && i.space != Space::kGlobal) m.illegal(".nc needs .global");
  o.shape = Shape::kLoad;
}

void read_store(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  Groups groups(m);
  while (!m.done()) {
    const bool taken = take_order(m, groups, i, {"relaxed", "release"}) || m.take("weak") ||
                       groups.one(kVolatile, {"volatile"}) || take_scope(m, groups, i) ||
                       take_space(m, groups, i) || groups.one(kCache, {"wb", "cg", "cs", "wt"}) ||
                       take_hint(m) || take_vector(m, groups, i);
    if (!taken) break;
  }
  i.type = m.type(kMemoryTypes);
  i.is_volatile = groups.seen(kVolatile);
  if (groups.seen(kOrder)) i.mode = Mode::kAll;
  check_order(m, groups);
  check_vector(m, i);
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
                       take_scope(m, groups, i) || take_space(m, groups, i);
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
      // 9.7.13.5: additions of 16-bit floats say that they keep subnormals.
      if (keeps_subnormals) {
        i.type = m.type(kHalves);
      } else {
        if (is_in(type_of(m.peek()), kHalves)) m.illegal("atomic addition of 16-bit floats needs .noftz");
        i.type = m.type(kWords | kFloats);
      }
      break;
    case Atomic::kMin:
    case Atomic::kMax:
      i.type = m.type(kWords);
      break;
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
  o.shape = reduces ? Shape::kReduce : Shape::kAtomic;
}

void read_convert_address(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  i.to_space = m.take("to");
  m.need({{"global", Space::kGlobal},
          {"shared", Space::kShared},
          {"shared::cta", Space::kShared},
          {"local", Space::kLocal},
          {"param", Space::kParam},
          {"param::entry", Space::kParam},
          {"const", Space::kConst}},
         i.space);
  i.type = m.type(set_of(Type::kU64));
  o.shape = Shape::kMove;
  signature(o, i.type, {i.type});
}

void read_fence(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  i.acquires = i.releases = true;
  const bool membar = m.mnemonic() == "membar";
  bool ignored = true;
  if (!membar) m.take({{"sc", true}, {"acq_rel", true}, {"acquire", true}, {"release", true}}, ignored);
  if (m.peek() != "cta") i.mode = Mode::kAll;
  if (membar) {
    m.need({{"cta", false}, {"gl", false}, {"sys", true}}, i.system_scope);
  } else {
    m.need({{"cta", false}, {"cluster", false}, {"gpu", false}, {"sys", true}}, i.system_scope);
  }
  o.shape = Shape::kFence;
}

// 9.7.9.25: cp.async.{ca,cg}.shared.global, cp.async.commit_group, .wait_group, .wait_all.
void read_copy_async(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  if (!m.take("async")) m.not_executable();
  i.type = Type::kB32;
  o.shape = Shape::kCopyWait;
  for (const char* later : {"bulk", "mbarrier"}) {
    if (m.has(later)) m.not_executable(".async." + std::string(later));
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
  while (take_hint(m)) {
  }
  i.space = Space::kGlobal;
  o.shape = Shape::kCopyAsync;
}

}  // namespace weft::ptx
