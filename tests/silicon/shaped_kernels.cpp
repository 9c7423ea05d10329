// One kernel for each shape of control flow; divergence_kernels.h says what a body may use.
#include "silicon/divergence_kernels.h"

namespace weft::test::silicon {
namespace {

// Sets a predicate if the low bits of a word are below a limit.
std::string when(const std::string& predicate, const std::string& word, unsigned mask, unsigned limit) {
  return "  and.b32 %a0, " + word + ", " + std::to_string(mask) + "; setp.lt.u32 " + predicate + ", %a0, " +
         std::to_string(limit) + ";\n";
}
std::string half(const std::string& predicate, const std::string& word) {
  return when(predicate, word, 1, 1);
}
std::string low_bits(const std::string& counter, const std::string& word, unsigned mask) {
  return "  and.b32 " + counter + ", " + word + ", " + std::to_string(mask) + ";\n";
}
// Counts down and branches while the counter was not 0.
std::string again(const std::string& counter, const std::string& target) {
  return "  setp.gt.s32 %p9, " + counter + ", 0; sub.u32 " + counter + ", " + counter + ", 1;\n  @%p9 bra " +
         target + ";\n";
}

void branches(std::vector<DivergenceKernel>& all) {
  all.push_back({"if", half("%p1", "%x0") + "#1\n  @%p1 bra J;\n#2\nJ:\n#3\n"});
  all.push_back({"if_else", half("%p1", "%x0") + "  @%p1 bra E;\n#1\n  bra J;\nE:\n#2\nJ:\n#3\n"});
  all.push_back({"nested_if", half("%p1", "%x0") + half("%p2", "%x1") +
                                  "  @%p1 bra J;\n#1\n  @%p2 bra K;\n#2\nK:\n#3\nJ:\n#4\n"});
  all.push_back(
      {"nested_if_else", half("%p1", "%x0") + half("%p2", "%x1") +
                             "  @%p1 bra E;\n#1\n  @%p2 bra F;\n#2\n  bra K;\nF:\n#3\nK:\n#4\n"
                             "  bra J;\nE:\n#5\n  @%p2 bra G;\n#6\n  bra L;\nG:\n#7\nL:\n#8\nJ:\n#9\n"});
  all.push_back(
      {"nested_if_one_join", half("%p1", "%x0") + half("%p2", "%x1") +
                                 "  @%p1 bra E;\n#1\n  @%p2 bra F;\n#2\n  bra J;\nF:\n#3\n  bra J;\n"
                                 "E:\n#4\nJ:\n#5\n"});
  all.push_back({"arms_that_end", half("%p1", "%x0") + "  @%p1 bra E;\n#1\n  ret;\nE:\n#2\n  ret;\n"});
  all.push_back({"join_at_the_end", half("%p1", "%x0") + "  @%p1 bra E;\n#1\n  bra DONE;\nE:\n#2\n"});
  all.push_back({"exit_in_an_arm", half("%p1", "%x0") + "  @%p1 bra J;\n#1\n  exit;\nJ:\n#2\n"});
  all.push_back(
      {"exit_in_a_nested_arm", half("%p1", "%x0") + half("%p2", "%x1") +
                                   "  @%p1 bra J;\n#1\n  @%p2 bra K;\n#2\n  exit;\nK:\n#3\nJ:\n#4\n"});
  all.push_back({"return_from_nested_arm", half("%p1", "%x0") + half("%p2", "%x1") +
                                               "  @%p1 bra J;\n#1\n  @%p2 bra DONE;\n#2\nJ:\n#3\n"});
}

void unstructured(std::vector<DivergenceKernel>& all) {
  const std::string two = half("%p1", "%x0") + half("%p2", "%x1");
  all.push_back(
      {"short_circuit_and", two + "  @%p1 bra E;\n#1\n  @%p2 bra E;\n#2\n  bra J;\nE:\n#3\nJ:\n#4\n"});
  all.push_back(
      {"short_circuit_or", two + "  @%p1 bra T;\n#1\n  @!%p2 bra E;\nT:\n#2\n  bra J;\nE:\n#3\nJ:\n#4\n"});
  all.push_back(
      {"short_circuit_three",
       two + half("%p3", "%x2") +
           "  @%p1 bra E;\n#1\n  @%p2 bra T;\n#2\n  @%p3 bra E;\nT:\n#3\n  bra J;\nE:\n#4\nJ:\n#5\n"});
  all.push_back(
      {"goto_shared_block", two + "#1\n  @%p1 bra S;\n#2\n  @%p2 bra S;\n#3\n  bra J;\nS:\n#4\nJ:\n#5\n"});
  all.push_back({"goto_into_other_arm",
                 two + "  @%p1 bra E;\n#1\n  @%p2 bra M;\n#2\n  bra J;\nE:\n#3\nM:\n#4\nJ:\n#5\n"});
  all.push_back({"crossed_arms",
                 two + half("%p3", "%x2") +
                     "  @%p1 bra B;\n#1\n  @%p2 bra D;\n  bra C;\nB:\n#2\n  @%p3 bra C;\n  bra D;\nC:\n#3\n"
                     "  bra J;\nD:\n#4\nJ:\n#5\n"});
  all.push_back({"loop_with_two_entries", half("%p1", "%x0") + low_bits("%c0", "%x1", 3) +
                                              "  @%p1 bra B;\nA:\n#1\nB:\n#2\n" + again("%c0", "A") +
                                              "#3\n"});
  all.push_back({"crossed_loops", two + low_bits("%c0", "%x2", 3) + low_bits("%c1", "%x3", 3) +
                                      "A:\n#1\nB:\n#2\n" + again("%c0", "A") + "#3\n" + again("%c1", "B") +
                                      "#4\n"});
}

void loops(std::vector<DivergenceKernel>& all) {
  const std::string count = low_bits("%c0", "%x0", 7);
  all.push_back({"loop", count + "L:\n#1\n" + again("%c0", "L") + "#2\n"});
  all.push_back(
      {"while",
       count +
           "L:\n  setp.eq.u32 %p1, %c0, 0;\n  @%p1 bra J;\n#1\n  sub.u32 %c0, %c0, 1;\n  bra L;\nJ:\n#2\n"});
  all.push_back({"break", count + "L:\n#1\n" + when("%p1", "%v", 28, 8) + "  @%p1 bra J;\n#2\n" +
                              again("%c0", "L") + "J:\n#3\n"});
  all.push_back({"continue", count + "L:\n#1\n  xor.b32 %a1, %v, %x1;\n" + when("%p1", "%a1", 12, 8) +
                                 "  @%p1 bra N;\n#2\nN:\n" + again("%c0", "L") + "#3\n"});
  all.push_back({"continue_by_a_second_back_edge",
                 count +
                     "L:\n#1\n  setp.eq.u32 %p2, %c0, 0;\n  @%p2 bra J;\n  sub.u32 %c0, %c0, 1;\n"
                     "  xor.b32 %a1, %v, %x1;\n" +
                     when("%p1", "%a1", 12, 8) + "  @%p1 bra L;\n#2\n  bra L;\nJ:\n#3\n"});
  all.push_back({"two_exits", count + "L:\n#1\n  xor.b32 %a1, %v, %x1;\n" + when("%p1", "%a1", 28, 8) +
                                  "  @%p1 bra B;\n#2\n" + again("%c0", "L") +
                                  "#3\n  bra J;\nB:\n#4\nJ:\n#5\n"});
  all.push_back({"exit_in_a_loop", count + "L:\n#1\n  xor.b32 %a1, %v, %x1;\n" + when("%p1", "%a1", 28, 4) +
                                       "  @%p1 exit;\n#2\n" + again("%c0", "L") + "#3\n"});
  all.push_back({"return_in_a_loop", count + "L:\n#1\n  xor.b32 %a1, %v, %x1;\n" + when("%p1", "%a1", 28, 4) +
                                         "  @%p1 bra DONE;\n#2\n" + again("%c0", "L") + "#3\n"});
  all.push_back({"nested_loops", low_bits("%c0", "%x0", 3) + "L:\n#1\n  xor.b32 %a1, %x1, %c0;\n" +
                                     low_bits("%c1", "%a1", 3) + "M:\n#2\n" + again("%c1", "M") + "#3\n" +
                                     again("%c0", "L") + "#4\n"});
  all.push_back({"break_out_of_two_loops",
                 low_bits("%c0", "%x0", 3) + "L:\n#1\n" + low_bits("%c1", "%x1", 3) +
                     "M:\n#2\n  xor.b32 %a1, %v, %x2;\n" + when("%p1", "%a1", 28, 4) + "  @%p1 bra J;\n#3\n" +
                     again("%c1", "M") + "#4\n" + again("%c0", "L") + "#5\nJ:\n#6\n"});
  all.push_back({"branch_in_a_uniform_loop",
                 "  mov.u32 %c0, 3;\nL:\n#1\n  shr.u32 %a1, %x0, %c0;\n" + half("%p1", "%a1") +
                     "  @%p1 bra E;\n#2\n  bra N;\nE:\n#3\nN:\n#4\n" + again("%c0", "L") + "#5\n"});
  all.push_back({"loop_in_an_arm", half("%p1", "%x1") + count + "  @%p1 bra E;\nL:\n#1\n" +
                                       again("%c0", "L") + "  bra J;\nE:\n#2\nJ:\n#3\n"});
  all.push_back({"work_after_a_loop", count + "L:\n#1\n" + again("%c0", "L") + "#2\n" + half("%p1", "%x1") +
                                          "  @%p1 bra E;\n#3\n  bra J;\nE:\n#4\nJ:\n#5\n"});
}

void switches(std::vector<DivergenceKernel>& all) {
  const std::string table = low_bits("%a0", "%x0", 3) + "T: .branchtargets A, B, C, D;\n  brx.idx %a0, T;\n";
  all.push_back(
      {"switch_by_table", table + "A:\n#1\n  bra J;\nB:\n#2\n  bra J;\nC:\n#3\n  bra J;\nD:\n#4\nJ:\n#5\n"});
  all.push_back({"switch_falls_through", table + "A:\n#1\nB:\n#2\n  bra J;\nC:\n#3\nD:\n#4\nJ:\n#5\n"});
  all.push_back(
      {"switch_of_a_chain", low_bits("%a1", "%x0", 3) +
                                "  setp.eq.u32 %p1, %a1, 0;\n  @%p1 bra A;\n  setp.eq.u32 %p2, %a1, 1;\n"
                                "  @%p2 bra B;\n  setp.eq.u32 %p3, %a1, 2;\n  @%p3 bra C;\n#4\n  bra J;\n"
                                "A:\n#1\n  bra J;\nB:\n#2\n  bra J;\nC:\n#3\nJ:\n#5\n"});
  all.push_back(
      {"switch_in_a_loop", low_bits("%c0", "%x1", 3) + "L:\n#6\n  shr.u32 %a0, %x0, %c0;\n" +
                               low_bits("%a0", "%a0", 3) +
                               "T: .branchtargets A, B, C, D;\n  brx.idx %a0, T;\nA:\n#1\n  bra J;\nB:\n#2\n"
                               "  bra J;\nC:\n#3\n  bra J;\nD:\n#4\nJ:\n#5\n" +
                               again("%c0", "L") + "#7\n"});
}

// f(log, last, v, depth) returns log and v in 16 bytes.
const char* const kSignature = "(.param .b64 log, .param .b64 last, .param .b32 v, .param .b32 n)";
std::string function(const std::string& name, const std::string& body) {
  return ".func (.param .align 8 .b8 r[16]) " + name + kSignature +
         " {\n$REGISTERS  ld.param.u64 %log, [log]; ld.param.u64 %last, [last]; ld.param.u32 %v, [v];\n"
         "  ld.param.u32 %c0, [n];\n" +
         body + "  st.param.b64 [r], %log; st.param.b32 [r+8], %v;\n  ret;\n}\n";
}
std::string call(const std::string& callee, const std::string& n, const std::string& after = "") {
  return "  { .param .b64 l; .param .b64 e; .param .b32 w; .param .b32 m; .param .align 8 .b8 q[16];\n"
         "  st.param.b64 [l], %log; st.param.b64 [e], %last; st.param.b32 [w], %v; st.param.b32 [m], " +
         n + ";\n  call (q), " + callee + ", (l, e, w, m)" + after +
         ";\n  ld.param.b64 %log, [q]; ld.param.b32 %v, [q+8]; }\n";
}

void calls(std::vector<DivergenceKernel>& all) {
  const std::string declared = std::string(".func (.param .align 8 .b8 r[16]) f") + kSignature + ";\n";
  const std::string recursive =
      declared +
      function("f", "#10\n  setp.eq.u32 %p1, %c0, 0;\n  @%p1 bra R;\n#11\n  sub.u32 %a1, %c0, 1;\n" +
                        call("f", "%a1") + "#12\nR:\n#13\n");
  const std::string branching =
      function("f", "#10\n" + half("%p1", "%c0") + "  @%p1 bra E;\n#11\n  bra J;\nE:\n#12\nJ:\n#13\n");
  const std::string choice = half("%p1", "%x0");
  all.push_back(
      {"call_in_an_arm", choice + "  @%p1 bra J;\n#1\n" + call("f", "%x1") + "#2\nJ:\n#3\n", branching});
  all.push_back({"call_in_both_arms",
                 choice + "  @%p1 bra E;\n#1\n" + call("f", "%x1") + "  bra J;\nE:\n#2\n" + call("f", "%x2") +
                     "J:\n#3\n",
                 branching});
  all.push_back({"recursion", low_bits("%a2", "%x0", 3) + "#1\n" + call("f", "%a2") + "#2\n", recursive});
  all.push_back(
      {"recursion_in_an_arm",
       choice + low_bits("%a2", "%x1", 3) + "  @%p1 bra J;\n#1\n" + call("f", "%a2") + "#2\nJ:\n#3\n",
       recursive});
  all.push_back(
      {"call_through_a_register",
       choice +
           "  mov.u64 %d1, f; mov.u64 %d2, g; selp.b64 %d3, %d1, %d2, %p1;\n#1\nS: .calltargets f, g;\n" +
           call("%d3", "%x1", ", S") + "#2\n",
       branching + function("g", "#20\n  setp.gt.u32 %p1, %c0, 77;\n  @%p1 bra J;\n#21\nJ:\n#22\n")});
}

void synchronised(std::vector<DivergenceKernel>& all) {
  const std::string choice = half("%p1", "%x0");
  all.push_back(
      {"warp_barrier_after_an_arm", choice + "  @%p1 bra J;\n#1\nJ:\n#2\n  bar.warp.sync -1;\n#3\n"});
  all.push_back({"warp_barrier_in_a_loop",
                 "  mov.u32 %c0, 2;\nL:\n#1\n  shr.u32 %a1, %x0, %c0;\n" + half("%p1", "%a1") +
                     "  @%p1 bra N;\n#2\nN:\n  bar.warp.sync -1;\n#3\n" + again("%c0", "L") + "#4\n"});
  all.push_back({"warp_barrier_of_an_arm",
                 choice + "  vote.sync.ballot.b32 %a3, %p1, -1; not.b32 %a4, %a3;\n  @%p1 bra E;\n#1\n" +
                     half("%p2", "%x1") +
                     "  @%p2 bra K;\n#2\nK:\n  bar.warp.sync %a4;\n#3\n  bra J;\nE:\n#4\n"
                     "  bar.warp.sync %a3;\n#5\nJ:\n#6\n"});
  all.push_back({"warp_barrier_in_both_arms", choice + "  @%p1 bra E;\n#1\n  bar.warp.sync -1;\n#2\n  bra "
                                                       "J;\nE:\n#3\n  bar.warp.sync -1;\n#4\nJ:\n#5\n"});
  all.push_back(
      {"block_barrier_in_both_arms",
       choice +
           "  @%p1 bra E;\n#1\n  barrier.sync 0;\n#2\n  bra J;\nE:\n#3\n  barrier.sync 0;\n#4\nJ:\n#5\n"});
  all.push_back(
      {"ballot_after_an_arm", choice + half("%p2", "%x1") +
                                  "  @%p1 bra J;\n#1\nJ:\n  activemask.b32 %a3;\n"
                                  "  vote.sync.ballot.b32 %a4, %p2, %a3; add.u32 %v, %v, %a4;\n#2\n"});
  all.push_back({"ballot_after_a_warp_barrier",
                 choice + half("%p2", "%x1") +
                     "  @%p1 bra J;\n#1\nJ:\n  bar.warp.sync -1; activemask.b32 %a3;\n"
                     "  vote.sync.ballot.b32 %a4, %p2, %a3; add.u32 %v, %v, %a4;\n#2\n"});
  all.push_back(
      {"shuffle_of_all_after_an_arm",
       choice +
           "  @%p1 bra J;\n#1\nJ:\n  shfl.sync.bfly.b32 %a4, %x1, 5, 31, -1; add.u32 %v, %v, %a4;\n#2\n"});
  all.push_back({"ballot_of_all_in_both_arms",
                 choice + half("%p2", "%x1") +
                     "  @%p1 bra E;\n#1\n  vote.sync.ballot.b32 %a4, %p2, -1;\n#2\n  bra J;\nE:\n#3\n"
                     "  vote.sync.ballot.b32 %a4, !%p2, -1;\n#4\nJ:\n  add.u32 %v, %v, %a4;\n#5\n"});
}

// Do the two sides of a branch take turns?
void interleaved(std::vector<DivergenceKernel>& all) {
  const auto side = [](unsigned first, const std::string& between) {
    std::string text;
    for (unsigned i = 0; i < 6; ++i) text += "#" + std::to_string(first + i) + "\n" + between;
    return text;
  };
  const auto arms = [&](const std::string& between, const std::string& other) {
    return half("%p1", "%x0") + "  @%p1 bra E;\n" + side(10, between) + "  bra J;\nE:\n" + side(20, other) +
           "J:\n#1\n";
  };
  const std::string load =
      "  and.b32 %a2, %v, 63; mad.wide.u32 %d1, %a2, 4, %words; ld.volatile.global.u32 %a3, [%d1]; add.u32 "
      "%v, %v, %a3;\n";
  const std::string sleep = "  nanosleep.u32 2000;\n";
  all.push_back({"arms_of_arithmetic", arms("", "")});
  all.push_back({"arms_of_loads", arms(load, load)});
  all.push_back({"one_arm_of_loads", arms("", load)});
  all.push_back({"arms_that_sleep", arms(sleep, sleep)});
  all.push_back({"one_arm_sleeps", arms(sleep, "")});
}

}  // namespace

std::vector<DivergenceKernel> shaped_kernels() {
  std::vector<DivergenceKernel> all;
  branches(all);
  unstructured(all);
  loops(all);
  switches(all);
  calls(all);
  synchronised(all);
  interleaved(all);
  return all;
}

}  // namespace weft::test::silicon
