#include "equivalence/kernel_generator.h"

#include <vector>

#include "equivalence/function_generator.h"

namespace weft::test {
namespace {

// %r20 to %r27 are the thread's variables, %r40 and up hold loop counters, %r2 = %tid.x, %r5 = thread of the
// grid; %rd10 = the thread's slots, %rd11 = table, %rd12 = sums, %r10 = its words in shared memory. %r500 and
// up hold member masks: where `mask_` is not empty it names a register whose set bits are just the threads of
// the warp that come past here together, and perhaps some that have exited. Threads that leave by a branch to
// the end have not, for a while, so in a kernel with such branches nobody knows members.
// A draw of 0 always is the simplest: no guard, no further statement, straight code.
class Generator {
 public:
  explicit Generator(Choices& choices) : choices_(choices), functions_(choices) {}

  RandomKernel kernel() {
    RandomKernel kernel;
    kernel.blocks = 1 + below(5);
    kernel.threads = 1 + below(kMaxBlock);
    leaves_by_branch_ = one_in(3);
    prologue();
    constexpr unsigned kParts = 4;
    for (unsigned parts = 1; !part(parts == kParts); ++parts) {
    }
    epilogue();
    kernel.text = ".version 8.0\n.target sm_90\n.address_size 64\n" + functions_.functions() + text_ + "}\n";
    return kernel;
  }

 private:
  unsigned below(unsigned n) { return choices_.below(n); }
  bool one_in(unsigned n) { return choices_.one_in(n); }
  void line(const std::string& text) { text_ += "  " + text + "\n"; }
  void label(const std::string& name) { text_ += name + ":\n"; }
  std::string fresh() { return "L" + std::to_string(labels_++); }
  std::string variable() { return "%r" + std::to_string(20 + below(8)); }
  std::string number() { return std::to_string(one_in(3) ? below(1u << 31) : below(40)); }
  std::string operand() { return below(3) == 0 ? number() : variable(); }
  std::string guard() {
    if (!one_in(5)) return "";
    condition();
    return below(2) == 0 ? "@%p1 " : "@!%p1 ";
  }

  void prologue() {
    text_ =
        ".visible .entry k(.param .u64 slots, .param .u64 table, .param .u64 sums) {\n"
        "  .reg .pred %p<8>; .reg .b32 %r<1000>; .reg .b64 %rd<32>; .reg .f32 %f<8>;\n"
        "  .shared .align 16 .b8 box[" +
        std::to_string(kMaxBlock * 4) +
        "];\n"
        "  .local .align 8 .b8 mine[16];\n";
    line("ld.param.u64 %rd1, [slots]; ld.param.u64 %rd11, [table]; ld.param.u64 %rd12, [sums];");
    line("mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;");
    line("mad.lo.u32 %r5, %r3, %r4, %r2;");
    line("mul.wide.u32 %rd10, %r5, " + std::to_string(kSlotWords * 4) + "; add.u64 %rd10, %rd1, %rd10;");
    line("mov.u32 %r10, box; shl.b32 %r11, %r2, 2; add.u32 %r10, %r10, %r11;");
    line("st.shared.u32 [%r10], %r5; mov.u32 %r12, mine; mov.u32 %r13, 0; mov.b32 %r500, -1;");
    line("add.u32 %r38, %r4, 31; and.b32 %r38, %r38, -32; mov.u32 %r39, 11;");
    line("st.local.v2.u32 [%r12], {%r13, %r5}; st.local.v2.u32 [%r12+8], {%r5, %r2};");
    for (int i = 0; i < 8; ++i) {
      line("mad.lo.u32 %r" + std::to_string(20 + i) + ", %r5, " + std::to_string(1 + below(1000)) + ", " +
           number() + ";");
    }
  }

  void epilogue() {
    if (leaves_by_branch_) label("EPILOGUE");
    for (unsigned i = 0; i < kSlotWords; ++i) {
      line("st.global.u32 [%rd10+" + std::to_string(4 * i) + "], %r" + std::to_string(20 + i) + ";");
    }
    if (leaves_by_branch_) label("LEAVE");
    line("ret;");
  }

  // %p1 = something that differs between threads, mostly.
  void condition() {
    static const char* const kCompare[] = {"lt.u32", "gt.s32", "eq.u32", "ne.u32", "ge.u32"};
    const std::string v = below(3) == 0 ? "%r2" : variable();
    line("and.b32 %r30, " + v + ", " + std::to_string((2u << below(5)) - 1) + ";");
    line(std::string("setp.") + kCompare[below(5)] + " %p1, %r30, " + std::to_string(below(8)) + ";");
  }

  // One of the uniform parts of the kernel; a barrier stands between it and the next. Returns whether it is
  // the last.
  bool part(bool last) {
    const Choices::Span span(choices_);
    last = below(3) == 0 || last;
    may_exit_ = one_in(2) || last;  // drawn in either case: other draws keep their places
    mask_ = below(4) != 0 && !leaves_by_branch_ ? "%r500" : "";
    statements(6, 0);
    if (last) return true;
    if (one_in(3)) {
      condition();
      line("@%p1 exit;");
      all_live_ = false;
    }
    if (one_in(2)) exchange();
    barrier();
    return false;
  }

  // `mean` - 1 statements on average, perhaps none.
  void statements(unsigned mean, unsigned depth) {
    constexpr unsigned kMost = 12;
    for (unsigned i = 0; i < kMost; ++i) {
      const Choices::Span span(choices_);
      if (below(mean) == 0) return;
      statement(depth);
    }
  }

  void statement(unsigned depth) {
    const unsigned kind = below(depth < 3 ? 19 : 11);
    switch (kind) {
      case 8:
        return load();
      case 1:
        line(guard() + "st.global.u32 [%rd10+" + std::to_string(4 * below(kSlotWords)) + "], " + variable() +
             ";");
        return;
      case 2:
        return shared();
      case 3:
        return atomic();
      case 4:
        return local();
      case 5:
        return may_exit_ && one_in(4) ? leave() : arithmetic();
      case 6:
        return mask_.empty() ? arithmetic() : warp();
      case 7:
        return one_in(3) ? copy() : arithmetic();
      case 11:
      case 12:
        return branch(depth);
      case 13:
        return loop(depth);
      case 14:
        return choice(depth);
      case 16:
        return call();
      case 17:
        return depth == 0 ? barrier_loop() : branch(depth);
      case 18:
        return may_exit_ ? leave() : branch(depth);
      case 15:
        return depth == 0 || one_in(3) ? unstructured() : branch(depth);
      default:
        return arithmetic();
    }
  }

  void arithmetic() {
    static const char* const kTwo[] = {"add.u32", "sub.u32", "mul.lo.u32", "xor.b32",
                                       "and.b32", "or.b32",  "min.s32",    "max.u32"};
    switch (below(5)) {
      case 4: {
        const std::string divisor = variable();
        line("or.b32 %r31, " + divisor + ", 1;");
        line(guard() + (below(2) == 0 ? "rem.u32 " : "div.s32 ") + variable() + ", " + variable() +
             ", %r31;");
        return;
      }
      case 3:
        line("and.b32 %r31, " + operand() + ", 31;");
        line(guard() + (below(2) == 0 ? "shl.b32 " : "shr.u32 ") + variable() + ", " + variable() +
             ", %r31;");
        return;
      case 2:
        line("cvt.rn.f32.u32 %f1, " + variable() + "; fma.rn.f32 %f2, %f1, 0f3fc00000, %f1;");
        line(guard() + "mov.b32 " + variable() + ", %f2;");
        return;
      default:
        line(guard() + kTwo[below(8)] + " " + variable() + ", " + variable() + ", " + operand() + ";");
    }
  }

  void load() {
    line("and.b32 %r31, " + variable() + ", " + std::to_string(kTableWords - 1) + ";");
    line("mul.wide.u32 %rd13, %r31, 4; add.u64 %rd13, %rd11, %rd13;");
    line(guard() + "ld.global.u32 " + variable() + ", [%rd13];");
  }

  void shared() {
    line(below(2) == 0 ? guard() + "st.shared.u32 [%r10], " + variable() + ";"
                       : guard() + "ld.shared.u32 " + variable() + ", [%r10];");
  }

  void local() {
    line("and.b32 %r31, " + variable() + ", 12; add.u32 %r31, %r31, %r12;");
    line(below(2) == 0 ? guard() + "st.local.u32 [%r31], " + variable() + ";"
                       : guard() + "ld.local.u32 " + variable() + ", [%r31];");
  }

  void atomic() {
    static const char* const kKind[] = {"add.u32", "xor.b32", "max.u32", "min.s32"};
    // Different operations commute only with themselves, so each has sums of its own.
    const unsigned kind = below(4);
    line("and.b32 %r31, " + variable() + ", 3; add.u32 %r31, %r31, " + std::to_string(4 * kind) + ";");
    line("mul.wide.u32 %rd13, %r31, 4; add.u64 %rd13, %rd12, %rd13;");
    line(guard() +
         (below(2) == 0 ? std::string("red.global.") + kKind[kind] + " [%rd13], "
                        : std::string("atom.global.") + kKind[kind] + " %r32, [%rd13], ") +
         variable() + ";");
  }

  // Threads of the warp exchange values.
  void warp() {
    static const char* const kShuffle[] = {"up", "down", "bfly", "idx"};
    static const char* const kSegment[] = {"31", "6175", "0", "4096", "7199"};
    static const char* const kVote[] = {"all", "any", "uni"};
    static const char* const kRedux[] = {"add.u32", "min.s32", "max.u32", "and.b32",
                                         "or.b32",  "xor.b32", "min.u32", "max.s32"};
    const auto lane = [this] { return below(2) == 0 ? std::to_string(below(32)) : variable(); };
    const std::string tail = ", " + mask_ + ";";
    switch (below(7)) {
      case 0:
        line(std::string("shfl.sync.") + kShuffle[below(4)] + ".b32 " + variable() + "|%p6, " + variable() +
             ", " + lane() + ", " + kSegment[below(5)] + tail);
        line("@%p6 add.u32 " + variable() + ", " + variable() + ", 5;");
        return;
      case 1:
        condition();
        line("vote.sync.ballot.b32 " + variable() + ", " + (below(2) == 0 ? "!" : "") + "%p1" + tail);
        return;
      case 2:
        condition();
        line(std::string("vote.sync.") + kVote[below(3)] + ".pred %p6, %p1" + tail);
        line("@!%p6 xor.b32 " + variable() + ", " + variable() + ", 77;");
        return;
      case 3:
        line("and.b32 %r31, " + variable() + ", 3;");
        line(below(2) == 0 ? "match.any.sync.b32 " + variable() + ", %r31" + tail
                           : "match.all.sync.b32 " + variable() + "|%p6, %r31" + tail);
        return;
      case 4:
        line(std::string("redux.sync.") + kRedux[below(8)] + " " + variable() + ", " + variable() + tail);
        return;
      case 5:  // some of them, under a guard
        condition();
        line("vote.sync.ballot.b32 %r36, %p1" + tail);
        line("@%p1 shfl.sync.bfly.b32 " + variable() + ", " + variable() + ", " + lane() + ", 31, %r36;");
        return;
      default:
        line("bar.warp.sync " + mask_ + ";");
        line("elect.sync " + variable() + "|%p6" + tail);
    }
  }

  // A word of the table, or a part of it, comes to the thread's word of shared memory.
  void copy() {
    line("and.b32 %r31, " + variable() + ", " + std::to_string(kTableWords - 1) + ";");
    line("mul.wide.u32 %rd13, %r31, 4; add.u64 %rd13, %rd11, %rd13; and.b32 %r31, %r31, 3;");
    line(guard() + "cp.async.ca.shared.global [%r10], [%rd13], 4" + (below(2) == 0 ? ", %r31;" : ";"));
    line(below(2) == 0 ? "cp.async.wait_all;" : "cp.async.commit_group; cp.async.wait_group 0;");
    line("ld.shared.u32 " + variable() + ", [%r10];");
  }

  // Threads end, at once or by a branch to what all end with: perhaps one, none, or many.
  void leave() {
    condition();
    const unsigned who = below(4);
    const unsigned thread = who == 1 ? 2 * kMaxBlock : below(kMaxBlock);
    line(who < 3 ? "setp.eq.and.u32 %p2, %r2, " + std::to_string(thread) + ", %p1;" : "mov.pred %p2, %p1;");
    static const char* const kWays[] = {"exit;", "ret;", "bra LEAVE;", "bra EPILOGUE;"};
    line(std::string("@%p2 ") + kWays[below(leaves_by_branch_ ? 4 : 2)]);
    all_live_ = false;
  }

  // All threads go round together, and those that end do so before the barrier of a turn.
  void barrier_loop() {
    const std::string counter = "%r" + std::to_string(40 + counters_++), head = fresh();
    const bool may_exit = may_exit_;
    may_exit_ |= one_in(2);
    line("mov.u32 " + counter + ", " + std::to_string(1 + below(3)) + ";");
    label(head);
    statements(3, 1);
    if (one_in(2)) exchange();
    barrier();
    line("sub.u32 " + counter + ", " + counter + ", 1; setp.ge.s32 %p7, " + counter + ", 0;");
    line("@%p7 bra " + head + ";");
    may_exit_ = may_exit;
  }

  // Where all threads that have not exited come past. Barriers for a number of threads wait for whole warps,
  // so they need all.
  void barrier() {
    switch (below(all_live_ ? 8 : 5)) {
      case 4:
        text_ += functions_.meet(variable());
        all_live_ = false;
        return;
      case 3:
        line("barrier.cta.sync %r39;");
        return;
      case 1:
        condition();
        line("bar.red.popc.u32 " + variable() + ", 2, %p1;");
        return;
      case 2:
        condition();
        line(std::string("barrier.red.") + (below(2) == 0 ? "and" : "or") + ".pred %p6, 4, !%p1;");
        line("@%p6 add.u32 " + variable() + ", " + variable() + ", 9;");
        return;
      case 0:
        line("bar.sync 0;");
        return;
      case 6:
        line("bar.sync 15, %r38;");
        return;
      case 5:
        condition();
        line("bar.red.popc.u32 " + variable() + ", 2, %r38, %p1;");
        return;
      default: {  // the first 64 threads go on, the others wait for them
        const std::string first = fresh(), join = fresh();
        line("setp.lt.u32 %p6, %r2, 64;");
        line("@%p6 bra " + first + ";");
        line("bar.sync 7, %r38;");
        line("bra " + join + ";");
        label(first);
        line("bar.arrive 7, %r38;");
        label(join);
        line("bar.sync 0;");
      }
    }
  }

  std::string mask_register() { return "%r" + std::to_string(500 + masks_++); }

  void call() {
    const std::string guarded = guard();
    text_ += functions_.call(variable(), variable(), variable(), guarded, may_exit_);
    all_live_ = all_live_ && !may_exit_;
  }

  void branch(unsigned depth) {
    const std::string otherwise = fresh(), join = fresh(), outer = mask_;
    std::string taken, passing;
    condition();
    if (!outer.empty() && below(3) != 0) {
      taken = mask_register();
      passing = mask_register();
      line("vote.sync.ballot.b32 " + taken + ", %p1, " + outer + ";");
      line("vote.sync.ballot.b32 " + passing + ", !%p1, " + outer + ";");
    }
    line("@%p1 bra " + otherwise + ";");
    mask_ = passing;
    statements(3, depth + 1);
    if (one_in(2)) {
      line("bra " + join + ";");
      label(otherwise);
      mask_ = taken;
      statements(3, depth + 1);
      label(join);
    } else {
      label(otherwise);
    }
    mask_ = outer;
  }

  void loop(unsigned depth) {
    const std::string counter = "%r" + std::to_string(40 + counters_++), head = fresh(), out = fresh(),
                      outer = mask_;
    line("and.b32 " + counter + ", " + variable() + ", " + std::to_string((2u << below(3)) - 1) + ";");
    mask_ = outer.empty() || below(3) == 0 ? "" : mask_register();
    if (!mask_.empty()) line("mov.b32 " + mask_ + ", " + outer + ";");
    label(head);
    statements(3, depth + 1);
    if (one_in(3)) {  // break
      condition();
      if (!mask_.empty()) line("vote.sync.ballot.b32 " + mask_ + ", !%p1, " + mask_ + ";");
      line("@%p1 bra " + out + ";");
    }
    statements(2, depth + 1);
    line("sub.u32 " + counter + ", " + counter + ", 1;");
    line("setp.ge.s32 %p3, " + counter + ", 0;");
    if (!mask_.empty()) line("vote.sync.ballot.b32 " + mask_ + ", %p3, " + mask_ + ";");
    line("@%p3 bra " + head + ";");
    label(out);
    mask_ = outer;
  }

  // A switch: a chain of comparisons, or a branch through a table.
  void choice(unsigned depth) {
    const std::string outer = mask_;
    mask_.clear();
    const std::string join = fresh();
    const unsigned cases = 2 + below(3);
    std::vector<std::string> labels;
    labels.reserve(cases);
    for (unsigned i = 0; i < cases; ++i) labels.push_back(fresh());
    line("and.b32 %r33, " + variable() + ", 3;");
    if (one_in(2)) {
      const std::string table = fresh();
      std::string targets;
      for (unsigned i = 0; i < 4; ++i) targets += (i == 0 ? "" : ", ") + (i < cases ? labels[i] : join);
      line(table + ": .branchtargets " + targets + ";");
      line(guard() + "brx.idx %r33, " + table + ";");
    } else {
      for (unsigned i = 0; i < cases; ++i) {
        line("setp.eq.u32 %p4, %r33, " + std::to_string(i) + ";");
        line("@%p4 bra " + labels[i] + ";");
      }
    }
    line("bra " + join + ";");
    for (const auto& name : labels) {
      label(name);
      statements(3, depth + 1);
      if (!one_in(3)) line("bra " + join + ";");  // else it falls through
    }
    label(join);
    mask_ = outer;
  }

  // Blocks with jumps to any other block; a counter ends what goes round.
  void unstructured() {
    const std::string outer = mask_;
    mask_.clear();
    const std::string counter = "%r" + std::to_string(40 + counters_++), out = fresh();
    const unsigned blocks = 2 + below(6);
    std::vector<std::string> labels;
    labels.reserve(blocks);
    for (unsigned i = 0; i < blocks; ++i) labels.push_back(fresh());
    line("mov.u32 " + counter + ", " + std::to_string(4 + below(12)) + ";");
    const std::string count_down =
        "sub.u32 " + counter + ", " + counter + ", 1; setp.lt.s32 %p5, " + counter + ", 0;";
    const std::string leave = "@%p5 bra " + out + ";";
    for (unsigned i = 0; i < blocks; ++i) {
      label(labels[i]);
      line(count_down);
      line(leave);
      statements(2, 3);
      condition();
      line("@%p1 bra " + labels[below(blocks)] + ";");
      if (one_in(3)) line("bra " + (below(3) == 0 ? out : labels[below(blocks)]) + ";");
    }
    label(out);
    mask_ = outer;
  }

  // Neighbours read each other's word of shared memory, a barrier on either side. Who has left has written
  // its own before.
  void exchange() {
    line("bar.sync 0;");
    line("add.u32 %r34, %r2, 1; rem.u32 %r34, %r34, %r4; shl.b32 %r34, %r34, 2; mov.u32 %r35, box;");
    line("add.u32 %r34, %r34, %r35; ld.shared.u32 " + variable() + ", [%r34];");
  }

  Choices& choices_;
  FunctionGenerator functions_;
  std::string text_;
  std::string mask_;  // register with the members; empty: nobody knows them here
  unsigned labels_ = 0, counters_ = 0, masks_ = 1;
  bool may_exit_ = false, all_live_ = true, leaves_by_branch_ = false;
};

}  // namespace

RandomKernel random_kernel(Choices& choices) {
  return Generator(choices).kernel();
}

std::string random_kernel(std::uint64_t seed) {
  Choices choices(seed);
  return random_kernel(choices).text;
}

}  // namespace weft::test
