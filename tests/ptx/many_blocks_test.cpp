// Kernels of many blocks: nothing recurses by a block each, and what is live costs what changes.
#include <random>

#include "ptx/link.h"
#include "ptx/lower.h"
#include "ptx/ptx_text.h"
#include "ptx/reach.h"
#include "ptx/saves.h"
#include "ptx/syntax.h"

namespace weft::ptx::testing::many_blocks_test {
namespace {

// More blocks in a row than there are frames on a stack: every walk over blocks keeps a list of its own.
TEST(ManyBlocks, InARow) {
  const auto labelled = [](std::size_t blocks, auto line) {
    std::string text;
    for (std::size_t i = 0; i < blocks; ++i) text += "L" + std::to_string(i) + ": " + line(i) + "\n";
    return text + "ret;";
  };
  const auto last_joins_at_exit = [](const std::string& body, std::size_t blocks) {
    const Program p = decode_body(body);
    EXPECT_GE(p.blocks.size(), blocks);
    EXPECT_EQ(p.blocks[p.blocks.size() - 1].post_dominator, p.blocks.size());
    return p;
  };
  std::string targets = "L0";
  constexpr std::size_t kMany = 200'000;
  for (std::size_t i = 1; i < kMany; ++i) targets += ", L" + std::to_string(i);
  const Program indexed =
      last_joins_at_exit("ts: .branchtargets " + targets + ";\nbrx.idx %r0, ts;\n" +
                             labelled(kMany, [](std::size_t) { return "add.u32 %r1, %r1, 1;"; }),
                         kMany);
  // Each target goes on to the next one, so all meet at the last.
  EXPECT_EQ(indexed.blocks[0].post_dominator, kMany);
  const Program endless =
      last_joins_at_exit(labelled(kMany / 10,
                                  [](std::size_t i) {
                                    const std::string n = std::to_string(i);
                                    return "@%p1 bra M" + n + ";\nN" + n + ": bra N" + n + ";\nM" + n + ":";
                                  }),
                         kMany / 5);
  EXPECT_EQ(endless.blocks[0].post_dominator, endless.blocks.size());
}

Draft draft_of(const std::string& body) {
  const Module module = parse(kernel_of(body), "k.ptx");
  return lower(module, module.text->functions[0], {});
}

// What is live at the end of each block, by looking at each register by itself: forwards from each place
// where it may be read before it is written.
class ByDefinition {
 public:
  ByDefinition(const Draft& draft, const FlowGraph& flow) : draft_(draft), flow_(flow) {}

  bool at_end(std::uint32_t block, VirtualId id) const { return from(flow_.blocks[block].successors, id); }
  bool at_entry(VirtualId id) const { return from({0}, id); }

 private:
  bool from(std::vector<std::uint32_t> work, VirtualId id) const {
    std::vector<bool> seen(flow_.blocks.size() + 1, false);
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      if (b == flow_.blocks.size() || seen[b]) continue;
      seen[b] = true;
      bool ends = false;
      for (Pc pc = flow_.blocks[b].first; pc <= flow_.blocks[b].last && !ends; ++pc) {
        const DraftInstruction& i = draft_.code[pc];
        bool reads = false, writes = false;
        for_each_read(i, [&](VirtualId r) { reads = reads || r == id; });
        for_each_write(i, [&](VirtualId w) { writes = writes || w == id; });
        if (reads || (writes && !overwrites(i))) return true;
        ends = writes;
      }
      if (!ends)
        work.insert(work.end(), flow_.blocks[b].successors.begin(), flow_.blocks[b].successors.end());
    }
    return false;
  }

  const Draft& draft_;
  const FlowGraph& flow_;
};

std::string random_body(std::mt19937& random) {
  const auto below = [&](std::size_t n) { return std::to_string(random() % n); };
  const std::size_t blocks = 1 + random() % 12, registers = random() % 2 == 0 ? 4 : 90;
  std::string body;
  for (std::size_t b = 0; b < blocks; ++b) {
    body += "L" + std::to_string(b) + ": ";
    for (std::size_t i = random() % 5; i-- > 0;) {
      body += (random() % 4 == 0 ? "@%p" + below(3) + " " : "") + "add.u32 %r" + below(registers) + ", %r" +
              below(registers) + ", %r" + below(registers) + ";\n";
    }
    if (random() % 4 != 0)
      body += (random() % 4 == 0 ? "" : "@%p" + below(3)) + " bra L" + below(blocks) + ";\n";
  }
  return body + "ret;";
}

// The registers are so few, or so many, that they are in one word or several.
TEST(ManyBlocks, LiveRegistersAgreeWithTheirDefinition) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::string body = random_body(random);
    const Draft draft = draft_of(body);
    const FlowGraph flow = build_flow(draft);
    const Liveness liveness = find_liveness(draft, flow);
    const ByDefinition expected(draft, flow);
    LiveSet live(draft.registers.size());
    std::uint64_t size = 0;
    for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
      liveness.live_out.enter(b, live);
      for (VirtualId id = 0; id < draft.registers.size(); ++id)
        ASSERT_EQ(live.contains(id), expected.at_end(b, id)) << id << " at the end of " << b << " of\n"
                                                             << body;
      size += live.list().size();
      // What a user makes of the set is undone.
      for (Pc pc = flow.blocks[b].last + 1; pc-- > flow.blocks[b].first;) step_back(draft.code[pc], live);
    }
    EXPECT_EQ(liveness.live_out.size(), size);
    std::vector<VirtualId> at_entry;
    for (VirtualId id = 0; id < draft.registers.size(); ++id) {
      if (expected.at_entry(id)) at_entry.push_back(id);
    }
    EXPECT_EQ(liveness.live_in_at_entry, at_entry) << body;
  }
}

// Registers that are live across as many blocks.
std::string across(std::size_t count) {
  std::string body = ".reg .b32 %v<" + std::to_string(count) + ">;\n", end;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    body += "ld.param.u32 %v" + n + ", [n];\n";
    end += "st.global.u32 [%rd1], %v" + n + ";\n";
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    body += "@%p1 bra L" + n + ";\nadd.u32 %r1, %r1, %r2;\nL" + n + ":\n";
  }
  return body + end + "ret;";
}

TEST(ManyBlocks, SearchForLiveRegistersIsBounded) {
  const Draft draft = draft_of(across(2'000));
  const FlowGraph flow = build_flow(draft);
  // 2,000 registers are 32 words, each of which goes past 4,000 blocks once, and both ways of each branch.
  EXPECT_NO_THROW(find_liveness(draft, flow, 400'000));
  EXPECT_EQ(
      message_of([&] { find_liveness(draft, flow, 100'000); }),
      "k.ptx:7: 2004 registers are live across some of 4001 blocks, and the search for these blocks takes "
      "more than the 100000 steps allowed");
}

// Registers that are live across as many calls.
TEST(ManyBlocks, WhatCallsSaveIsBounded) {
  std::string body = ".reg .b32 %v<100>;\n", end;
  for (int i = 0; i < 100; ++i) {
    body += "ld.param.u32 %v" + std::to_string(i) + ", [n];\n";
    end += "st.global.u32 [%rd1], %v" + std::to_string(i) + ";\n";
  }
  for (int i = 0; i < 100; ++i) body += "call f;\n";
  const Module module = parse(kernel_of(body + end + "ret;") + ".func f() { ret; }\n", "k.ptx");
  const Symbols symbols;
  const std::vector<LinkedModule> modules{{&module, &symbols}};
  const Linkage linkage(modules);
  const Reach reach = find_reach(linkage, {0, &module.text->functions[0]});
  const Draft draft = lower_statements(*reach.functions[0], reach, 0, 0);
  const FlowGraph flow = build_flow(draft);
  const Liveness liveness = find_liveness(draft, flow);
  EXPECT_NO_THROW(plan_saves(draft, flow, liveness, 10'100));  // 100 times 100 values and the address
  EXPECT_EQ(message_of([&] { plan_saves(draft, flow, liveness, 10'099); }),
            "k.ptx:107:1: the calls of this function save more than 10099 values together, since so many "
            "registers are live across them");
}

}  // namespace
}  // namespace weft::ptx::testing::many_blocks_test
