// Threads that wait for other threads of their warp. Each loop that waits ends after %bound turns. %c31 tells
// whether the thread got what it waited for.
#include "silicon/divergence_kernels.h"

namespace weft::test::silicon {
namespace {

// Waits until a word is as wanted: one loop with one exit, so that its post-dominator is its end.
std::string wait(const std::string& label, const std::string& word, const std::string& wanted,
                 const std::string& load = "ld.volatile.global.u32", const std::string& pause = "") {
  return label + ":\n" + pause + "  " + load + " %a1, [" + word +
         "]; add.u32 %spins, %spins, 1; setp.lt.u32 %p8, %spins, %bound;\n  setp.ne.and.u32 %p9, %a1, " +
         wanted + ", %p8;\n  @%p9 bra " + label + ";\n";
}
std::string got(const std::string& wanted) {
  return "  setp.eq.u32 %p7, %a1, " + wanted + "; selp.u32 %c31, 1, 0, %p7;\n";
}
std::string set(const std::string& word, const std::string& value, const std::string& space = "global") {
  return "  membar.gl; st.volatile." + space + ".u32 [" + word + "], " + value + ";\n";
}
const char* const kTake =
    "  atom.global.cas.b32 %a1, [%words], 0, 1; add.u32 %spins, %spins, 1;\n  setp.lt.u32 %p8, %spins, "
    "%bound;\n";
const char* const kAddOne =
    "  membar.gl; ld.volatile.global.u32 %a2, [%words+4]; add.u32 %a2, %a2, 1;\n"
    "  st.volatile.global.u32 [%words+4], %a2; membar.gl;\n";

void locks(std::vector<DivergenceKernel>& all) {
  const std::string unlock = "  atom.global.exch.b32 %a3, [%words], 0;\n";
  all.push_back({"lock_freed_after_its_loop",
                 std::string("L:\n") + kTake + "  setp.ne.and.u32 %p9, %a1, 0, %p8;\n  @%p9 bra L;\n#1\n" +
                     got("0") + "  @!%p7 bra J;\n#2\n" + kAddOne + unlock + "J:\n#3\n",
                 "", true});
  all.push_back({"lock_freed_in_its_loop",
                 std::string("  mov.u32 %c31, 0;\nL:\n") + kTake +
                     "  setp.ne.u32 %p7, %a1, 0;\n  @%p7 bra N;\n#2\n" + kAddOne + unlock +
                     "  mov.u32 %c31, 1;\nN:\n  setp.eq.and.u32 %p9, %c31, 0, %p8;\n"
                     "  @%p9 bra L;\n#3\n",
                 "", true});
}

void flags(std::vector<DivergenceKernel>& all) {
  const std::string others = "  mov.u32 %c31, 1; setp.ne.u32 %p1, %lane, 5;\n";
  const auto taken = [&](const std::string& space, const std::string& word, const std::string& pause) {
    return others + "  @%p1 bra E;\n#1\n" + set(word, "1", space) + "#2\n  bra J;\nE:\n#3\n" +
           wait("L", word, "1", "ld.volatile." + space + ".u32", pause) + got("1") + "#4\nJ:\n#5\n";
  };
  all.push_back({"taken_arm_waits", taken("global", "%words", ""), "", true});
  all.push_back({"taken_arm_waits_shared",
                 "  .shared .align 4 .b8 box[4];\n  mov.u32 %a7, box; st.volatile.shared.u32 [%a7], 0; "
                 "bar.warp.sync -1;\n" +
                     taken("shared", "%a7", ""),
                 "", true});
  all.push_back({"taken_arm_sleeps", taken("global", "%words", "  nanosleep.u32 100;\n"), "", true});
  const auto by = [&](const std::string& load, const std::string& after) {
    return others + "  @%p1 bra E;\n#1\n" + set("%words", "1") + "#2\n  bra J;\nE:\n#3\n" +
           wait("L", "%words", "1", load) + got("1") + "#4\nJ:\n#5\n" + after;
  };
  all.push_back({"taken_arm_acquires", by("ld.acquire.gpu.global.u32", ""), "", true});
  all.push_back({"taken_arm_reads_relaxed", by("ld.relaxed.gpu.global.u32", ""), "", true});
  all.push_back({"warp_barrier_after_waiting",
                 by("ld.volatile.global.u32", "  bar.warp.sync -1;\n#6\n  @%p1 bra K;\n#7\nK:\n#8\n"), "",
                 true});
  all.push_back({"passing_arm_waits",
                 others + "  @!%p1 bra E;\n#1\n" + wait("L", "%words", "1") + got("1") +
                     "#2\n  bra J;\nE:\n#3\n" + set("%words", "1") + "#4\nJ:\n#5\n",
                 "", true});
  all.push_back({"flag_set_behind_the_join",
                 others + "  @!%p1 bra J;\n#1\n" + wait("L", "%words", "1") + got("1") +
                     "#2\nJ:\n#3\n  @%p1 bra K;\n#4\n" + set("%words", "1") + "K:\n#5\n",
                 "", true});
  all.push_back({"flag_set_behind_the_loop",
                 others +
                     "  selp.u32 %a4, 1, 0, %p1;\nL:\n  ld.volatile.global.u32 %a1, [%words]; add.u32 "
                     "%spins, %spins, 1;\n"
                     "  setp.lt.u32 %p8, %spins, %bound; setp.ne.u32 %p2, %a4, 0;\n"
                     "  setp.eq.and.u32 %p9, %a1, 0, %p8; and.pred %p9, %p9, %p2;\n  @%p9 bra L;\n#1\n"
                     "  or.b32 %a1, %a1, 0; setp.ne.u32 %p7, %a1, 0; selp.u32 %c31, 1, 0, %p7;\n"
                     "  selp.u32 %c31, %c31, 1, %p1;\n  @%p1 bra K;\n#2\n" +
                     set("%words", "1") + "K:\n#3\n",
                 "", true});
}

void turns(std::vector<DivergenceKernel>& all) {
  all.push_back({"one_lane_after_the_other",
                 wait("L", "%words", "%lane") + got("%lane") + "  add.u32 %a2, %lane, 1;\n#1\n" +
                     set("%words", "%a2") + "#2\n",
                 "", true});
  const auto player = [](const std::string& label, unsigned first) {
    std::string text;
    for (unsigned i = 0; i < 4; ++i) {
      const std::string wanted = std::to_string(2 * i + first), next = std::to_string(2 * i + first + 1);
      text += wait(label + std::to_string(i), "%words", wanted) + set("%words", next);
    }
    return text + got(std::to_string(first + 6));
  };
  all.push_back({"ping_pong",
                 "  mov.u32 %c31, 1; setp.eq.u32 %p1, %lane, 3; setp.eq.u32 %p2, %lane, 4;\n  @%p1 bra A;\n  "
                 "@%p2 bra B;\n"
                 "  bra J;\nA:\n#1\n" +
                     player("P", 0) + "#2\n  bra J;\nB:\n#3\n" + player("Q", 1) + "#4\nJ:\n#5\n",
                 "", true});
  const auto loop = [](const std::string& label) {
    return label +
           ":\n  mad.lo.u32 %a2, %a2, 1664525, 7; sub.u32 %a3, %a3, 1; setp.ne.u32 %p2, %a3, 0;\n  @%p2 "
           "bra " +
           label + ";\n  add.u32 %v, %v, %a2;\n";
  };
  all.push_back({"arms_of_long_loops",
                 "  mov.u32 %c31, 1; mov.u32 %a2, %lane; add.u32 %a3, %bound, 0; setp.lt.u32 %p1, %lane, "
                 "9;\n  @%p1 bra E;\n#1\n" +
                     loop("P") + "#2\n  bra J;\nE:\n#3\n" + loop("Q") + "#4\nJ:\n#5\n",
                 "", true});
}

}  // namespace

std::vector<DivergenceKernel> waiting_kernels() {
  std::vector<DivergenceKernel> all;
  locks(all);
  flags(all);
  turns(all);
  return all;
}

}  // namespace weft::test::silicon
