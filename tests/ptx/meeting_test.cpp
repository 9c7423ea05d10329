// Reconvergence points of branches with a block barrier ahead. Every line of a kernel is one instruction, so
// that PCs are easy to count; `kNoPc` stands for the virtual exit.
#include "ptx/meeting.h"

#include <sys/resource.h>

#include <algorithm>
#include <map>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::meeting_test {
namespace {

using Points = std::map<Pc, Pc>;

Points points_of(const Program& p, Pc Instruction::* point) {
  Points points;
  for (Pc pc = 0; pc < p.code.size(); ++pc) {
    const Instruction& i = p.code[pc];
    if ((i.is_branch() && i.guard >= 0) || i.op == Opcode::kBrx) points[pc] = i.*point;
  }
  return points;
}
Points aware(const Program& p) {
  return points_of(p, &Instruction::reconvergence);
}
Points plain(const Program& p) {
  return points_of(p, &Instruction::plain_reconvergence);
}

const std::string kWork = "mov.u32 %r1, %r2;\n", kWait = "bar.sync 0;\n";

// if (p1) { work } else { if (p2) return; work }  barrier
TEST(Meeting, AReturnInOneArmDoesNotPartTheOthers) {
  const Program p =
      decode_body("@%p1 bra E;\n@%p2 ret;\n" + kWork + "bra J;\nE: " + kWork + "J: " + kWait + "ret;");
  EXPECT_EQ(aware(p), (Points{{0, 5}}));
  EXPECT_EQ(plain(p), (Points{{0, kNoPc}}));
}

// The same with the return that nvcc makes of both: the threads that leave run first.
TEST(Meeting, ThreadsThatLeaveForASharedReturnRunFirst) {
  for (const char* end : {"D: ret;", "D: st.global.u32 [%rd1], %r1;\nret;"}) {
    const Program p =
        decode_body("@%p1 bra E;\n@%p2 bra D;\n" + kWork + "bra J;\nE: " + kWork + "J: " + kWait + end);
    EXPECT_EQ(aware(p), (Points{{0, 5}, {1, 2}})) << end;
    EXPECT_EQ(plain(p), (Points{{0, 6}, {1, 6}})) << end;
  }
}

TEST(Meeting, AnExitInALoopWithABarrier) {
  // 0; 1 leaves; 2 barrier; 3 back to 0; 4
  const Program p = decode_body("L: " + kWork + "@%p1 exit;\n" + kWait + "@%p2 bra L;\nret;");
  EXPECT_EQ(aware(p), (Points{{3, 0}}));
  EXPECT_EQ(plain(p), (Points{{3, kNoPc}}));
  const Program shared = decode_body("L: @%p1 bra D;\n" + kWait + "@%p2 bra L;\nD: ret;");
  EXPECT_EQ(aware(shared), (Points{{0, 1}, {2, 0}}));
  EXPECT_EQ(plain(shared), (Points{{0, 3}, {2, 3}}));
  // A block that branches to itself, behind its barrier.
  EXPECT_EQ(aware(decode_body("L: " + kWait + "@%p1 bra L;\nret;")), (Points{{1, 0}}));
}

// The arms meet before the barrier, or have a barrier each: nothing changes.
TEST(Meeting, KeepsThePostDominatorWhereItServes) {
  for (const std::string& body : {"@%p1 bra J;\n" + kWork + "J: " + kWait + "ret;",
                                  "@%p1 bra E;\n" + kWait + "bra J;\nE: " + kWait + "J: ret;",
                                  "@%p1 bra E;\n@%p2 exit;\n" + kWait + "bra J;\nE: " + kWait + "J: ret;",
                                  "@%p1 exit;\n@%p2 bra J;\n" + kWork + "J: " + kWait + "ret;"}) {
    const Program p = decode_body(body);
    EXPECT_EQ(aware(p), plain(p)) << body;
  }
}

TEST(Meeting, EveryFormOfBlockBarrierCountsAndNothingElse) {
  const auto body = [](const std::string& barrier) {
    return "@%p1 bra E;\n@%p2 ret;\n" + kWork + "E: " + barrier + "\nret;";
  };
  for (const char* barrier : {"bar.sync 0;", "bar.sync 3, 64;", "bar.cta.sync 1;", "barrier.sync 1;",
                              "barrier.cta.sync 1, 64;", "bar.arrive 2, 64;", "barrier.cta.arrive 2, 64;",
                              "bar.red.popc.u32 %r1, 1, %p3;", "barrier.cta.red.and.pred %p4, 1, %p3;"}) {
    EXPECT_EQ(aware(decode_body(body(barrier))), (Points{{0, 3}})) << barrier;
  }
  for (const char* other : {"bar.warp.sync -1;", "membar.cta;", "cp.async.wait_all;", "mov.u32 %r1, 0;"})
    EXPECT_EQ(aware(decode_body(body(other))), (Points{{0, kNoPc}})) << other;
}

TEST(Meeting, OfASwitchThatMayLeave) {
  const Program p = decode_body("T: .branchtargets A, B, D;\nbrx.idx %r1, T;\nA: " + kWork +
                                "bra J;\nB: " + kWork + "J: " + kWait + "D: ret;");
  EXPECT_EQ(aware(p), (Points{{0, 4}}));
  EXPECT_EQ(plain(p), (Points{{0, 5}}));
}

// Of a kernel k(a) that leaves before it calls what `functions` define.
Program calling(const std::string& functions, const std::string& call) {
  const Module m = parse(module_of(functions +
                                   ".visible .entry k(.param .u64 a) {\n.reg .pred %p<4>; .reg "
                                   ".b32 %r<4>; .reg .b64 %rd<4>;\n@%p1 bra E;\n@%p2 bra D;\n"
                                   "mov.u32 %r1, %r2;\nE: " +
                                   call + "\nD: ret;\n}\n"),
                         "k.ptx");
  Symbols symbols;
  add_functions(m, 0, symbols);
  return decode(m, "k", symbols);
}

// The n-th branch.
Pc branch_of(const Program& p, unsigned n) {
  for (Pc pc = 0;; ++pc) {
    if (p.code.at(pc).is_branch() && n-- == 0) return pc;
  }
}

TEST(Meeting, ACallThatMayComeToABarrierIsOne) {
  const std::string waits = ".func waits() { bar.sync 0; ret; }\n",
                    inner = ".func inner() { call waits; ret; }\n",
                    again = ".func again() { .reg .pred %p<2>; @%p1 call again; call inner; ret; }\n",
                    works = ".func works() { membar.gl; ret; }\n";
  for (const char* call : {"call waits;", "call inner;", "call again;"}) {
    const Program p = calling(waits + inner + again, call);
    const Pc first = branch_of(p, 0), second = branch_of(p, 1);
    EXPECT_EQ(p.code[first].reconvergence, p.code[first].target) << call;
    EXPECT_EQ(p.code[first].plain_reconvergence, p.code[second].target) << call;
    EXPECT_EQ(p.code[second].reconvergence, second + 1) << call;
  }
  const Program p = calling(waits + inner + works, "call works;");
  EXPECT_EQ(p.code[branch_of(p, 0)].reconvergence, p.code[branch_of(p, 1)].target);
}

// It may reach whatever has an address.
TEST(Meeting, ACallThroughARegisterMayComeToABarrier) {
  const std::string waits = ".func waits() { bar.sync 0; ret; }\n", works = ".func works() { ret; }\n",
                    call = "P: .callprototype _ ();\ncall %rd1, P;";
  const auto meets = [&](const std::string& taken) {
    const Program p = calling(waits + works, "mov.u64 %rd1, " + taken + ";\n" + call);
    const Instruction& first = p.code[branch_of(p, 0)];
    return first.reconvergence != first.plain_reconvergence;
  };
  EXPECT_TRUE(meets("waits"));
  EXPECT_FALSE(meets("works"));
}

TEST(Meeting, InADeviceFunction) {
  const Program p = calling(
      ".func waits() {\n.reg .pred %p<3>;\n@%p1 bra E;\n@%p2 exit;\nmembar.gl;\nE: bar.sync 0;\nret;\n}\n",
      "call waits;");
  const Pc entry = p.functions.at(0).first;
  EXPECT_EQ(p.code[entry].reconvergence, entry + 3);
  EXPECT_EQ(p.code[entry].plain_reconvergence, entry + 3) << "an exit counts as a way to the return";
  const Program early =
      calling(".func waits() {\n.reg .pred %p<3>;\n@%p1 ret;\nbar.sync 0;\nret;\n}\n", "call waits;");
  const Pc first = early.functions.at(0).first;
  EXPECT_EQ(early.code[first].reconvergence, first + 1);
  EXPECT_EQ(early.code[first].plain_reconvergence, first + 2);
}

// By the definition, on random graphs: where K, the blocks with a barrier that can be reached from the branch
// without passing its post-dominator r, are, and what all ways to them have in common.
class Definition {
 public:
  explicit Definition(const Program& p) : p_(p), exit_(static_cast<std::uint32_t>(p.blocks.size())) {
    for (const BasicBlock& block : p.blocks) {
      bool waits = false;
      for (Pc pc = block.first; pc <= block.last; ++pc) waits |= p.code[pc].is_barrier();
      waits_.push_back(waits);
    }
  }

  Pc point_of(std::uint32_t branch) const {
    const std::uint32_t r = p_.blocks[branch].post_dominator;
    if (!comes_to_barrier(branch, r, exit_)) return pc_of(r);
    std::vector<std::uint32_t> common;
    for (std::uint32_t d = 0; d < exit_; ++d) {
      if (d != r && !comes_to_barrier(branch, r, d)) common.push_back(d);
    }
    for (const std::uint32_t nearest : common) {
      const bool first = std::all_of(common.begin(), common.end(), [&](std::uint32_t other) {
        return other == nearest || comes_without(branch, r, other, nearest);
      });
      if (first) return pc_of(nearest);
    }
    return pc_of(r);
  }

 private:
  Pc pc_of(std::uint32_t block) const { return block == exit_ ? kNoPc : p_.blocks[block].first; }
  // Whether a way from behind the branch comes to a block with a barrier, neither through r nor `without`.
  bool comes_to_barrier(std::uint32_t branch, std::uint32_t r, std::uint32_t without) const {
    return walk(p_.blocks[branch].successors, r, without, exit_);
  }
  // Whether one comes to `to` without `without`, barriers being the end of each way.
  bool comes_without(std::uint32_t branch, std::uint32_t r, std::uint32_t without, std::uint32_t to) const {
    return walk(p_.blocks[branch].successors, r, without, to);
  }
  bool walk(std::vector<std::uint32_t> work, std::uint32_t r, std::uint32_t without, std::uint32_t to) const {
    std::vector<bool> seen(exit_ + 1, false);
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      if (b == exit_ || b == r || b == without || seen[b]) continue;
      seen[b] = true;
      if (to == exit_ ? waits_[b] : b == to) return true;
      if (waits_[b]) continue;
      work.insert(work.end(), p_.blocks[b].successors.begin(), p_.blocks[b].successors.end());
    }
    return false;
  }

  const Program& p_;
  const std::uint32_t exit_;
  std::vector<bool> waits_;
};

TEST(Meeting, AgreesWithItsDefinitionOnRandomGraphs) {
  std::uint64_t state = 7;
  const auto random = [&](std::uint64_t n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % n;
  };
  unsigned moved = 0, kept = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t lines = 3 + random(14);
    std::string body;
    for (std::uint64_t i = 0; i < lines; ++i) {
      body += "L" + std::to_string(i) + ": ";
      const std::string to = "bra L" + std::to_string(random(4) == 0 ? random(lines) : i + random(lines - i));
      static const char* const kOther[] = {"@%p1 exit;\n", "bar.sync 0;\n", "mov.u32 %r1, %r2;\n"};
      const std::uint64_t kind = random(8);
      body += kind < 4 ? "@%p1 " + to + ";\n" : kind == 4 ? to + ";\n" : kOther[kind - 5];
    }
    const Program p = decode_body(body);
    const Definition definition(p);
    for (std::uint32_t b = 0; b < p.blocks.size(); ++b) {
      const Instruction& last = p.code[p.blocks[b].last];
      if (!last.is_branch()) continue;
      const Pc expected =
          p.blocks[b].successors.size() < 2 ? last.plain_reconvergence : definition.point_of(b);
      ASSERT_EQ(last.reconvergence, expected) << "of the branch at " << p.blocks[b].last << "\n" << body;
      ++(last.reconvergence == last.plain_reconvergence ? kept : moved);
    }
  }
  EXPECT_GT(moved, 1000u);
  EXPECT_GT(kept, 1000u);
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

// `branches` ways to leave before one barrier: each sees all that are behind it.
std::string many_ways_out(unsigned branches) {
  std::string body;
  for (unsigned i = 0; i < branches; ++i) body += "@%p1 bra D;\n";
  return body + kWait + "D: ret;";
}

TEST(Meeting, SearchesOfLargeFunctionsAreBounded) {
  const Program whole = decode_body(many_ways_out(4000));
  for (Pc pc = 0; pc < 4000; ++pc) ASSERT_EQ(whole.code[pc].reconvergence, pc + 1);

  constexpr unsigned kMany = 50'000;  // a search sees 400 blocks
  static_assert(kMeetingSearch / kMany == 400, "what the comment says");
  const Module module = parse(kernel_of(many_ways_out(kMany)), "large.ptx");
  const double begin = cpu_seconds();
  const Program large = decode(module, "k", {});
  const double seconds = cpu_seconds() - begin;
  EXPECT_EQ(large.code[0].reconvergence, kMany + 1);
  EXPECT_EQ(large.code[kMany - 500].reconvergence, kMany + 1) << "too far from the barrier";
  EXPECT_EQ(large.code[kMany - 300].reconvergence, kMany - 299);
  EXPECT_EQ(large.code[kMany - 1].reconvergence, kMany);
  EXPECT_LT(seconds, 10.0) << "quadratic";
}

}  // namespace
}  // namespace weft::ptx::testing::meeting_test
