// Register allocation: no two registers that are live at the same time share a row. Liveness here is found
// anew, instruction by instruction with std::set, from the drafts that the allocator is given.
#include "ptx/allocation.h"

#include <set>

#include "ptx/ptx_text.h"
#include "ptx/syntax.h"

namespace weft::ptx::testing::allocation_test {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2862933555777941757ull + 3037000493ull) {}
  std::uint64_t operator()(std::uint64_t n) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return (state_ >> 33) % n;
  }

 private:
  std::uint64_t state_;
};

// A kernel of random instructions over few registers of each class, with branches to anywhere.
std::string random_kernel(std::uint64_t seed) {
  Random random(seed);
  const std::uint64_t lines = 5 + random(60), registers = 2 + random(12);
  const auto reg = [&](const char* prefix) { return prefix + std::to_string(random(registers)); };
  std::string body;
  for (std::uint64_t i = 0; i < lines; ++i) {
    body += "L" + std::to_string(i) + ": ";
    if (random(4) == 0) body += (random(2) ? "@" : "@!") + reg("%p") + " ";
    switch (random(14)) {
      case 0:
        body += "add.s32 " + reg("%r") + ", " + reg("%r") + ", " + reg("%r");
        break;
      case 1:
        body += "add.s64 " + reg("%rd") + ", " + reg("%rd") + ", 5";
        break;
      case 2:
        body += "mul.wide.u32 " + reg("%rd") + ", " + reg("%r") + ", " + reg("%r");
        break;
      case 3:
        body += "cvt.u32.u64 " + reg("%r") + ", " + reg("%rd");
        break;
      case 4:
        body += "setp.lt.and.s32 " + reg("%p") + "|" + reg("%p") + ", " + reg("%r") + ", " + reg("%r") +
                ", !" + reg("%p");
        break;
      case 5:
        body += "bra L" + std::to_string(random(lines));
        break;
      case 6:
        body += "ld.global.v4.f32 {" + reg("%f") + ", " + reg("%f") + ", " + reg("%f") + ", " + reg("%f") +
                "}, [" + reg("%rd") + "]";
        break;
      case 7:
        body += "st.global.v2.f64 [" + reg("%rd") + "], {" + reg("%fd") + ", " + reg("%fd") + "}";
        break;
      case 8:
        body += "mov.b64 " + reg("%rd") + ", {" + reg("%r") + ", " + reg("%r") + "}";
        break;
      case 9:
        body += "mov.b64 {" + reg("%r") + ", " + reg("%r") + "}, " + reg("%rd");
        break;
      case 10:
        body += "selp.f64 " + reg("%fd") + ", " + reg("%fd") + ", " + reg("%fd") + ", " + reg("%p");
        break;
      case 11:
        body += "mov.u32 " + reg("%r") + ", %tid.x";
        break;
      case 12:
        body += random(5) == 0 ? "exit" : "bar.sync 0";
        break;
      default:
        body += "fma.rn.f32 " + reg("%f") + ", " + reg("%f") + ", " + reg("%f") + ", " + reg("%f");
    }
    body += ";\n";
  }
  return body;
}

using Live = std::vector<std::set<VirtualId>>;

std::vector<Pc> successors(const Draft& draft, Pc pc) {
  const Instruction& i = draft.code[pc].fixed;
  std::vector<Pc> next;
  const bool ends = (i.is_branch() || i.is_exit()) && i.guard < 0;
  if (!ends) next.push_back(pc + 1);
  if (i.is_branch()) next.push_back(i.target);
  return next;
}

std::set<VirtualId> reads(const DraftInstruction& i) {
  std::set<VirtualId> ids;
  for (const VirtualId id : i.src) {
    if (id < kFirstSpecial) ids.insert(id);
  }
  if (i.guard != kNoRegister) ids.insert(i.guard);
  return ids;
}

std::set<VirtualId> writes(const DraftInstruction& i) {
  std::set<VirtualId> ids(i.dst.begin(), i.dst.end());
  ids.erase(kNoRegister);
  return ids;
}

// live[pc]: before the instruction.
Live naive_liveness(const Draft& draft) {
  Live live(draft.code.size() + 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (Pc pc = static_cast<Pc>(draft.code.size()); pc-- > 0;) {
      std::set<VirtualId> now;
      for (const Pc next : successors(draft, pc)) now.insert(live[next].begin(), live[next].end());
      if (draft.code[pc].guard == kNoRegister) {
        for (const VirtualId id : writes(draft.code[pc])) now.erase(id);
      }
      const std::set<VirtualId> read = reads(draft.code[pc]);
      now.insert(read.begin(), read.end());
      changed |= now != live[pc];
      live[pc] = std::move(now);
    }
  }
  return live;
}

// Code that nothing reaches reads what nothing wrote; there is no value to keep apart.
std::vector<bool> reachable(const Draft& draft) {
  std::vector<bool> seen(draft.code.size(), false);
  std::vector<Pc> work{0};
  while (!work.empty()) {
    const Pc pc = work.back();
    work.pop_back();
    if (seen[pc]) continue;
    seen[pc] = true;
    for (const Pc next : successors(draft, pc)) work.push_back(next);
  }
  return seen;
}

struct Result {
  Draft draft;
  Allocation allocation;
};

Result allocate_body(const std::string& body) {
  const Module module = parse(kernel_of(body), "k.ptx");
  Result result;
  result.draft = lower(module, module.text->functions[0], {});
  const FlowGraph flow = build_flow(result.draft);
  result.allocation = allocate(result.draft, flow, find_liveness(result.draft, flow), 255, 1000);
  return result;
}

// The rows of a set of registers, each at most once; `false` if two share one.
bool disjoint(const Draft& draft, const Allocation& allocation, const std::set<VirtualId>& ids) {
  std::set<std::pair<bool, unsigned>> taken;
  for (const VirtualId id : ids) {
    const bool predicate = draft.registers[id] == RegisterClass::kPredicate;
    const unsigned size = draft.registers[id] == RegisterClass::kDouble ? 2 : 1;
    if (size == 2 && allocation.row[id] % 2 != 0) return false;
    for (unsigned k = 0; k < size; ++k) {
      if (!taken.emplace(predicate, allocation.row[id] + k).second) return false;
    }
  }
  return true;
}

TEST(Allocation, LiveRegistersNeverShareARow) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::string body = random_kernel(seed);
    const auto [draft, allocation] = allocate_body(body);
    ASSERT_TRUE(allocation.feasible);
    const Live live = naive_liveness(draft);
    const std::vector<bool> runs = reachable(draft);
    for (Pc pc = 0; pc < draft.code.size(); ++pc) {
      if (!runs[pc]) continue;
      ASSERT_TRUE(disjoint(draft, allocation, live[pc])) << "seed " << seed << " pc " << pc << "\n" << body;
      // What is written must not hit what is live afterwards, even if nobody reads it.
      std::set<VirtualId> after = writes(draft.code[pc]);
      for (const Pc next : successors(draft, pc)) after.insert(live[next].begin(), live[next].end());
      ASSERT_TRUE(disjoint(draft, allocation, after)) << "seed " << seed << " pc " << pc << "\n" << body;
    }
  }
}

TEST(Allocation, NoInstructionWritesAcrossASourceOfAnotherWidth) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto [draft, allocation] = allocate_body(random_kernel(seed));
    for (const DraftInstruction& i : draft.code) {
      if (i.fixed.is_memory()) continue;
      for (const VirtualId to : writes(i)) {
        for (const VirtualId from : reads(i)) {
          if (draft.registers[to] == draft.registers[from]) continue;
          EXPECT_TRUE(disjoint(draft, allocation, {to, from})) << "seed " << seed;
        }
      }
    }
  }
}

TEST(Allocation, StraightLineNeedsWhatIsLiveAtOnce) {
  // A chain keeps one value and its successor alive: source and destination may share a row.
  std::string chain = "mov.u32 %r0, 1;\n";
  for (int i = 1; i < 50; ++i) {
    chain += "add.s32 %r" + std::to_string(i) + ", %r" + std::to_string(i - 1) + ", 1;\n";
  }
  const Program p = decode_body(chain + "st.shared.u32 [0], %r49; ret;");
  EXPECT_EQ(p.registers_per_thread, 1u);
  EXPECT_EQ(p.virtual_registers, 50u);
  EXPECT_EQ(p.register_rows, 2u);

  std::string wide;
  for (int i = 0; i < 40; ++i) wide += "ld.global.f32 %f" + std::to_string(i) + ", [64];\n";
  for (int i = 0; i < 40; ++i) wide += "st.global.f32 [64], %f" + std::to_string(i) + ";\n";
  EXPECT_EQ(decode_body(wide).registers_per_thread, 40u);
}

TEST(Allocation, AGuardedWriteKeepsTheOldValue) {
  // %r1 is 7 unless p1: it must not share a row with %r2 although its second write comes after %r2's last
  // read.
  const Program p = decode_body(
      "mov.u32 %r1, 7; mov.u32 %r2, 9; st.shared.u32 [0], %r2; @%p1 mov.u32 %r1, 8; st.shared.u32 [4], %r1; "
      "ret;");
  EXPECT_NE(p.code[0].dst[0].index, p.code[1].dst[0].index);
  EXPECT_EQ(p.code[0].dst[0].index, p.code[3].dst[0].index);
}

}  // namespace
}  // namespace weft::ptx::testing::allocation_test
