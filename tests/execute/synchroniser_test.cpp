// Block barriers and warp-level primitives without anybody who runs threads: the test says who arrives.
#include "execute/synchroniser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weft/ptx/module.h"

namespace weft::execute {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// One block of `threads` threads in slot 0; notes who goes on.
class BlockBench final : public Synchroniser::Runner {
 public:
  BlockBench(const std::string& body, std::uint32_t threads) {
    const std::string text =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<8>;\n.reg .pred "
        "%p<4>;\n" +
        body + "\nret;\n}\n";
    launch_.program = std::make_shared<ptx::Program>(ptx::decode(ptx::parse(text, "k.ptx"), "k", {}));
    launch_.block = {threads, 1, 1};
    kernel_ = std::make_unique<Kernel>(launch_, config_, 32);
    executor_.start_kernel(*kernel_, {});
    synchroniser.start_kernel(*kernel_);
    ResidentBlock& resident = blocks_[0];
    resident.live = true;
    resident.threads = resident.live_threads = threads;
    executor_.start_block(resident);
    synchroniser.start_block(resident);
  }

  const ResidentBlock& block() const { return blocks_[0]; }
  // The n-th instruction that is `op`, for lanes of a chunk.
  Participants at(ptx::Opcode op, std::uint32_t lanes, unsigned n = 0) const {
    for (ptx::Pc pc = 0; pc < kernel_->program.code.size(); ++pc) {
      if (kernel_->program.code[pc].op == op && n-- == 0) return {&kernel_->operations[pc], pc, lanes};
    }
    ADD_FAILURE() << "no such instruction";
    return {};
  }
  // Executes the instructions before it that make its operands, for all threads.
  void run_arithmetic(unsigned chunk) {
    for (ptx::Pc pc = 0; pc < kernel_->program.code.size(); ++pc) {
      if (kernel_->program.code[pc].unit != ptx::Unit::kSp) continue;
      const warp_formation::ThreadGroup group{~0u, static_cast<std::uint16_t>(chunk), 0, false};
      executor_.arithmetic(kernel_->operations[pc], {&group, 1}, 0);
    }
  }
  std::string arrive(unsigned chunk, std::uint32_t lanes, unsigned n = 0) {
    const Fault fault = synchroniser.arrive(at(ptx::Opcode::kBar, lanes, n), chunk, block(),
                                            [](std::uint32_t /*number*/, std::uint32_t /*lanes*/) {});
    synchroniser.open_barriers(block());
    return fault.text;
  }
  void exit(unsigned chunk, std::uint32_t lanes) {
    synchroniser.exited(chunk, lanes);
    blocks_[0].live_threads -= static_cast<std::uint32_t>(__builtin_popcount(lanes));
    synchroniser.open_barriers(block());
  }

  std::uint32_t ending(const ResidentBlock& /*block*/, unsigned chunk) const override {
    return chunk == 0 ? ending_lanes : 0;
  }
  std::uint32_t waiting_to_exit(const ResidentBlock& /*block*/) const override {
    return static_cast<std::uint32_t>(__builtin_popcount(ending_lanes));
  }
  std::uint32_t held_back(const ResidentBlock& /*block*/, unsigned chunk,
                          const std::uint32_t* standing) const override {
    std::uint32_t held = 0;
    for (const auto& [by, lanes] : held_back_lanes) held |= (standing[chunk] & by) != 0 ? lanes : 0;
    return held;
  }
  void barrier_opened(const ResidentBlock& /*block*/, unsigned barrier) override {
    opened.push_back(barrier);
  }
  void gathered(const ResidentBlock& /*block*/, unsigned chunk, std::uint32_t lanes) override {
    gone_on.emplace_back(chunk, lanes);
  }

  std::uint32_t ending_lanes = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> held_back_lanes;  // while one of the first stands
  std::vector<unsigned> opened;
  std::vector<std::pair<unsigned, std::uint32_t>> gone_on;

 private:
  dispatch::Launch launch_;
  const machine::SmConfig config_;
  std::unique_ptr<Kernel> kernel_;
  RegisterFile registers_;
  Executor executor_{config_, 0, 1000, registers_};
  std::vector<ResidentBlock> blocks_{1};

 public:
  Synchroniser synchroniser{"an SM", 0, executor_, blocks_, *this};
};

TEST(Synchroniser, OpensABarrierWhenTheLastThreadHasComeOrGone) {
  BlockBench bench("bar.sync 0;", 64);
  EXPECT_EQ(bench.arrive(0, ~0u), "");
  EXPECT_EQ(bench.arrive(1, 0x0000ffff), "");
  EXPECT_THAT(bench.opened, IsEmpty());
  EXPECT_THAT(bench.synchroniser.dump(), HasSubstr("barrier 0: 48 threads arrived, 64 expected"));
  bench.exit(1, 0xff000000);
  EXPECT_THAT(bench.opened, IsEmpty());
  bench.exit(1, 0x00ff0000);
  EXPECT_THAT(bench.opened, ElementsAre(0));
  EXPECT_EQ(bench.synchroniser.dump(), "");
}

TEST(Synchroniser, DoesNotWaitForThreadsThatOnlyWaitToExit) {
  BlockBench bench("bar.sync 3;", 32);
  EXPECT_EQ(bench.arrive(0, 0xfffffffe), "");
  EXPECT_THAT(bench.opened, IsEmpty());
  bench.ending_lanes = 1;
  bench.synchroniser.open_barriers(bench.block());
  EXPECT_THAT(bench.opened, ElementsAre(3));
}

TEST(Synchroniser, KeepsTheBarriersOfABlockApart) {
  BlockBench bench("bar.sync 1, 32; bar.sync 2;", 64);
  EXPECT_EQ(bench.arrive(0, ~0u, 1), "");
  EXPECT_EQ(bench.arrive(1, 0xffff, 0), "");
  EXPECT_THAT(bench.opened, IsEmpty()) << "a warp of PTX has 32 threads";
  EXPECT_EQ(bench.arrive(1, 0xffff0000, 0), "");
  EXPECT_THAT(bench.opened, ElementsAre(1));
  EXPECT_EQ(bench.arrive(1, ~0u, 1), "");
  EXPECT_THAT(bench.opened, ElementsAre(1, 2));
}

TEST(Synchroniser, SaysWhatIsWrongWithAnArrival) {
  BlockBench bench("mov.u32 %r1, 16; bar.sync %r1; bar.sync 0, 32; bar.sync 0, 64;", 64);
  bench.run_arithmetic(1);
  EXPECT_THAT(bench.arrive(1, 1u << 4), ::testing::AllOf(HasSubstr("thread (36,0,0) of block (0,0,0), pc 1"),
                                                         HasSubstr("found barrier 16; allowed: 0 to 15")));
  EXPECT_EQ(bench.arrive(0, 1, 1), "");
  EXPECT_THAT(bench.arrive(0, 2, 2), HasSubstr("waits for 32 threads already, found 64"));
}

TEST(Synchroniser, TellsWhichThreadsNameWhichBarrier) {
  BlockBench bench("mov.u32 %r1, %laneid; and.b32 %r1, %r1, 1; bar.sync %r1;", 32);
  bench.run_arithmetic(0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> named;
  bench.synchroniser.each_number(
      *bench.at(ptx::Opcode::kBar, 0).op, 0, 0xff,
      [&](std::uint32_t number, std::uint32_t lanes) { named.emplace_back(number, lanes); });
  EXPECT_THAT(named, ElementsAre(Pair(0, 0x55), Pair(1, 0xaa)));
}

TEST(Synchroniser, GathersTheMembersOfAPrimitiveFromSeveralPlaces) {
  BlockBench bench("bar.warp.sync 0xff; bar.warp.sync 0xff;", 32);
  auto& all = bench.synchroniser;
  const auto first = bench.at(ptx::Opcode::kWarpBarrier, 0x0f),
             second = bench.at(ptx::Opcode::kWarpBarrier, 0x30, 1);
  EXPECT_EQ(all.missing(bench.block(), 0, 0xff, 0x0f), 0xf0u);
  EXPECT_FALSE(all.gather(first, 0, 0xff, bench.block()));
  EXPECT_FALSE(all.gather(second, 0, 0xff, bench.block()));
  EXPECT_FALSE(all.release_gatherings());
  EXPECT_THAT(bench.gone_on, IsEmpty());
  EXPECT_THAT(all.dump(), HasSubstr("0xc0 is missing"));
  all.exited(0, 0x80);
  bench.ending_lanes = 0x40;
  EXPECT_FALSE(all.release_gatherings());
  EXPECT_THAT(bench.gone_on, ElementsAre(Pair(0, 0x3f)));
  EXPECT_TRUE(all.gatherings().empty());
}

TEST(Synchroniser, ExecutesWithoutMembersThatCannotCome) {
  BlockBench bench("bar.warp.sync 0xff; bar.sync 0; bar.sync 1, 64;", 32);
  auto& all = bench.synchroniser;
  EXPECT_FALSE(all.gather(bench.at(ptx::Opcode::kWarpBarrier, 0x0f), 0, 0xff, bench.block()));
  bench.held_back_lanes = {{0x0f, 0x30}};
  EXPECT_EQ(bench.arrive(0, 0x40, 0), "");
  EXPECT_FALSE(all.release_gatherings());
  EXPECT_THAT(bench.gone_on, IsEmpty()) << "lane 7 may come";
  EXPECT_EQ(bench.arrive(0, 0x80, 1), "");
  EXPECT_FALSE(all.release_gatherings());
  EXPECT_THAT(bench.gone_on, IsEmpty()) << "others may open the barrier at which it waits";
  bench.exit(0, 0x80);
  EXPECT_FALSE(all.release_gatherings());
  EXPECT_THAT(bench.gone_on, ElementsAre(Pair(0, 0x0f)));
}

// Lanes 4 to 7 wait for 2 and 3, which wait for lane 1: as long as that one runs, it may let go all.
TEST(Synchroniser, AMemberIsAwaitedWhomAnotherPrimitiveMayLetGo) {
  BlockBench bench("bar.warp.sync 0xfffffff0; bar.warp.sync 0xe;", 32);
  auto& all = bench.synchroniser;
  EXPECT_FALSE(all.gather(bench.at(ptx::Opcode::kWarpBarrier, 0xffffff00), 0, 0xfffffff0, bench.block()));
  EXPECT_FALSE(all.gather(bench.at(ptx::Opcode::kWarpBarrier, 0xc, 1), 0, 0xe, bench.block()));
  bench.held_back_lanes = {{0xc, 0xf0}};
  EXPECT_FALSE(all.release_gatherings());
  EXPECT_THAT(bench.gone_on, IsEmpty());
  bench.held_back_lanes.emplace_back(0xffffff00, 0x2);
  EXPECT_FALSE(all.release_gatherings());
  EXPECT_THAT(bench.gone_on, ElementsAre(Pair(0, 0xffffff00))) << "which lets lane 1 go";
}

TEST(Synchroniser, RefusesStrangersAndContradictions) {
  BlockBench bench("bar.warp.sync 0xff; bar.warp.sync 0x3; vote.sync.any.pred %p1, %p2, 0xff;", 32);
  auto& all = bench.synchroniser;
  EXPECT_FALSE(all.check_members(bench.at(ptx::Opcode::kWarpBarrier, 0x3), 0, 0xff, bench.block()));
  EXPECT_THAT(all.check_members(bench.at(ptx::Opcode::kWarpBarrier, 0x101), 0, 0xff, bench.block()).text,
              ::testing::AllOf(HasSubstr("thread (8,0,0)"), HasSubstr("not in its own member mask")));
  EXPECT_FALSE(all.gather(bench.at(ptx::Opcode::kWarpBarrier, 0x1), 0, 0xff, bench.block()));
  EXPECT_THAT(all.gather(bench.at(ptx::Opcode::kWarpBarrier, 0x2, 1), 0, 0x3, bench.block()).text,
              HasSubstr("wait for this thread with another mask"));
  EXPECT_THAT(all.gather(bench.at(ptx::Opcode::kVote, 0x4), 0, 0xff, bench.block()).text,
              HasSubstr("wait at a different operation"));
}

}  // namespace
}  // namespace weft::execute
