// What every datapath keeps, whatever its lanes do: asked at random, over random machines.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "datapath/issues.h"

namespace weft::datapath::test {
namespace {

constexpr unsigned kRounds = 200;
constexpr ptx::Unit kUnits[] = {ptx::Unit::kSp, ptx::Unit::kSfu, ptx::Unit::kMemory, ptx::Unit::kControl,
                                ptx::Unit::kWarp};

// A kind, or "spatial" with a mechanism that it does not have by default.
Config config_of(const std::string& name) {
  Config config;
  config.kind = name.substr(0, name.find('_'));
  config.units.enabled = name == "spatial_units";
  if (name == "spatial_queues") config.address_queue.entries = 3;
  if (name == "spatial_collectors") config.operands.kind = Operands::Kind::kCollectors;
  if (name == "spatial_slots") config.operands.kind = Operands::Kind::kSlots;
  return config;
}

class Contract : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Datapath> make(std::uint64_t seed) {
    random_.seed(seed);
    Machine m;
    m.schedulers = 1 + static_cast<unsigned>(random_() % 2);
    m.simd_groups = m.schedulers + static_cast<unsigned>(random_() % 2);
    m.simd_width = 4u << random_() % 4;
    m.sfu_groups = 1 + static_cast<unsigned>(random_() % 2);
    m.sfu_width = 1u << random_() % 6;
    m.memory_width = 1u << random_() % 6;
    m.bind_groups = random_() % 2 == 0;
    m.pipeline_depth = 1 + random_() % 24;
    m.branch_cycles = 1 + random_() % 24;
    m.registers = 8192;
    m.shared_port = random_() % 2 == 0;
    if (GetParam() == "spatial_sub") m.sub_cores = 4;
    machine_ = m;
    Config config = config_of(GetParam());
    config.guard = Guard::kIssueMask;
    auto datapath = create(config, m);
    if (random_() % 2 == 0) datapath->align(1 + random_() % 8);
    return datapath;
  }

  // A warp of 32 or 64 with some of its threads, some of which execute.
  std::unique_ptr<Threads> threads(const Datapath& datapath) {
    const auto chunks = static_cast<unsigned>(1 + random_() % 2);
    const unsigned rows_of_chunk = std::max(1u, 32 / datapath.lanes());
    std::vector<ThreadGroup> groups;
    for (unsigned c = 0; c < chunks; ++c) {
      const auto mask = static_cast<std::uint32_t>(random_() & random_());
      groups.push_back({mask | 1u << random_() % 32, static_cast<std::uint16_t>(c),
                        static_cast<std::uint8_t>(c * rows_of_chunk), true});
    }
    auto result = std::make_unique<Threads>(chunks * rows_of_chunk, groups);
    for (std::uint32_t& mask : result->executing) mask &= static_cast<std::uint32_t>(random_() | random_());
    return result;
  }

  std::unique_ptr<Work> work() {
    auto work =
        std::make_unique<Work>(kUnits[random_() % std::size(kUnits)], 1 + random_() % 30, 1 + random_() % 8);
    if (GetParam() == "spatial_units")
      work->demand.sub_core_unit = static_cast<Units::Unit>(random_() % 7);  // not kByKind
    if (config_of(GetParam()).operands.kind != Operands::Kind::kNone) {
      for (unsigned i = 0; i < 3; ++i) {
        work->instruction.src[i].kind = ptx::Operand::Kind::kRow;
        work->instruction.src[i].index = static_cast<std::uint16_t>(random_() % 8);
      }
    }
    return work;
  }

  std::mt19937_64 random_;
  Machine machine_;
};

// An issue that waits until `earliest` says may start then, if nothing else has; it is never told a cycle in
// the past, and not before something becomes free.
TEST_P(Contract, EarliestHoldsWhatItSays) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const auto datapath = make(seed);
    Cycle now = 1;
    for (unsigned round = 0; round < kRounds; ++round) {
      const auto t = threads(*datapath);
      const auto w = work();
      const auto scheduler = static_cast<unsigned>(random_() % machine_.schedulers);
      const Cycle at = datapath->earliest(now, scheduler, w->demand, t->issue);
      ASSERT_GE(at, now);
      ASSERT_NE(at, kNever);
      if (at != now) {
        ASSERT_GE(at, datapath->next_free(now));
        ASSERT_EQ(datapath->earliest(at - 1, scheduler, w->demand, t->issue), at);
        ASSERT_EQ(datapath->earliest(at, scheduler, w->demand, t->issue), at);
        now = at;
      }
      start(*datapath, now, *w, *t, scheduler);
      ASSERT_GT(datapath->next_free(now), now);
    }
  }
}

TEST_P(Contract, EveryExecutingThreadIsReadyOnce) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const auto datapath = make(seed);
    Cycle now = 1;
    for (unsigned round = 0; round < kRounds; ++round) {
      const auto t = threads(*datapath);
      const auto w = work();
      now = datapath->earliest(now, 0, w->demand, t->issue);
      const Times times = start(*datapath, now, *w, *t);
      ASSERT_GT(times.end, now);
      ASSERT_GE(times.addresses, now);
      ASSERT_LE(times.addresses, times.end);
      ASSERT_NE(times.part_count, 0u);
      std::vector<std::uint32_t> left = t->executing;
      Cycle last = 0;
      for (unsigned p = 0; p < times.part_count; ++p) {
        const Part& part = times.parts[p];
        ASSERT_GE(part.ready, now + (times.in_turn ? 0 : 1));
        last = std::max(last, part.ready);
        for (std::size_t g = 0; g < left.size(); ++g) {
          if ((part.groups >> g & 1) == 0) continue;
          const std::uint32_t threads = t->executing[g] & part.lanes;
          ASSERT_EQ(threads & ~left[g], 0u) << "twice";
          left[g] &= ~threads;
        }
      }
      if (times.in_turn) {
        ASSERT_LE(last, times.addresses);  // groups without a thread that executes may follow
      } else {
        ASSERT_EQ(last, times.end);
      }
      for (const std::uint32_t mask : left) ASSERT_EQ(mask, 0u) << "never";
    }
  }
}

TEST_P(Contract, LanesAreThoseOfTheThreads) {
  const auto datapath = make(1);
  for (unsigned round = 0; round < kRounds; ++round) {
    const auto t = threads(*datapath);
    const Work arithmetic(ptx::Unit::kSp);
    const Cycle now = datapath->earliest(round * 1000 + 1, 0, arithmetic.demand, t->issue);
    const Times times = start(*datapath, now, arithmetic, *t);
    unsigned threads = 0;
    for (const auto& group : t->groups) threads += static_cast<unsigned>(__builtin_popcount(group.mask));
    EXPECT_EQ(times.active_lanes, threads);
    EXPECT_GE(times.active_beats, 1u);
    EXPECT_GE(times.active_beats * datapath->lanes(), threads);
  }
}

// As many blocks as `fit` says are held at a time, whichever come and go.
TEST_P(Contract, HoldsAsManyBlocksAsFit) {
  const auto datapath = make(3);
  for (const std::uint64_t per_thread : {1, 20, 33, 63}) {
    for (const std::uint32_t size : {32u, 40u, 96u}) {
      const BlockRegisters registers{size, per_thread, 32};
      const std::uint64_t fits = std::min<std::uint64_t>(datapath->fit(registers).blocks, machine_.slots);
      const auto block = [&](std::uint64_t slot) {
        return Block{static_cast<std::uint16_t>(slot), static_cast<std::uint16_t>(slot * 3), size};
      };
      for (std::uint64_t slot = 0; slot < fits; ++slot) {
        ASSERT_TRUE(datapath->can_hold(static_cast<unsigned>(slot), registers)) << slot << " of " << fits;
        datapath->hold(block(slot), registers);
      }
      EXPECT_TRUE(fits == machine_.slots || !datapath->can_hold(static_cast<unsigned>(fits), registers));
      if (fits == 0) continue;
      datapath->release(block(fits / 2));
      EXPECT_TRUE(datapath->can_hold(static_cast<unsigned>(fits / 2), registers));
      datapath->hold(block(fits / 2), registers);
      for (std::uint64_t slot = 0; slot < fits; ++slot) datapath->release(block(slot));
      EXPECT_EQ(datapath->fit(registers).blocks == 0, !datapath->can_hold(0, registers));
    }
  }
}

// `needed` is what one block needs, no more; with lanes of their own slices there may be room for others.
TEST_P(Contract, SaysHowManyRegistersABlockNeeds) {
  make(1);
  for (const std::uint64_t per_thread : {1, 20, 33, 63, 255}) {
    for (const std::uint64_t size : {1, 32, 40, 1024}) {
      const BlockRegisters registers{size, per_thread, 32};
      Machine m = machine_;
      m.registers = create(config_of(GetParam()), m)->fit(registers).needed;
      EXPECT_GE(create(config_of(GetParam()), m)->fit(registers).blocks, 1u) << size << " x " << per_thread;
      --m.registers;
      EXPECT_EQ(create(config_of(GetParam()), m)->fit(registers).blocks, 0u) << size << " x " << per_thread;
    }
  }
}

// After a reset nothing is left of what was before: the same calls give the same answers as fresh.
TEST_P(Contract, ResetEqualsFreshConstruction) {
  const auto play = [&](Datapath& datapath) {
    random_.seed(11);
    std::vector<Cycle> answers;
    const BlockRegisters registers{96, 20, 32};
    for (std::uint16_t slot = 0; slot < machine_.slots && datapath.can_hold(slot, registers); ++slot) {
      datapath.hold({slot, static_cast<std::uint16_t>(slot * 3), 96}, registers);
      answers.push_back(slot);
    }
    Cycle now = 1;
    for (unsigned round = 0; round < kRounds; ++round) {
      const auto t = threads(datapath);
      const auto w = work();
      now = datapath.earliest(now, 0, w->demand, t->issue);
      answers.push_back(start(datapath, now, *w, *t).end);
      answers.push_back(datapath.next_free(now));
    }
    return answers;
  };
  const auto datapath = make(5);
  const std::vector<Cycle> fresh = play(*datapath);
  datapath->reset(0);
  EXPECT_EQ(play(*datapath), fresh);
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& part : parts_of(Datapath::kKind)) names.push_back(part->name);
  for (const char* more : {"units", "queues", "collectors", "slots", "sub"})
    names.push_back(std::string("spatial_") + more);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Datapaths, Contract, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace weft::datapath::test
