// Every function that exists: the versions for different instruction sets give the same bits, write the
// active lanes only, and allow the destination to overlap a source.
#include <gtest/gtest.h>

#include <cstring>

#include "conformance/case.h"
#include "isa/harness.h"

namespace weft::isa::test::versions_test {
namespace {

namespace conformance = weft::test::conformance;

using ptx::Combine;
using ptx::Compare;
using ptx::Width;

constexpr int kLastOpcode = static_cast<int>(Opcode::kNop);
constexpr int kLastType = static_cast<int>(ptx::kLastType);

// Every combination of fields that `find` looks at, most of which it refuses.
// Warp-level primitives: what a lane gets depends on who takes part (warp_test.cpp).
bool across_lanes(Opcode opcode) {
  return opcode >= Opcode::kShfl && opcode <= Opcode::kWarpBarrier;
}

template <class Visit>
void for_each_instruction(Visit visit) {
  for (int op = 0; op <= kLastOpcode; ++op) {
    const auto opcode = static_cast<Opcode>(op);
    if (across_lanes(opcode)) continue;
    const bool is_setp = opcode == Opcode::kSetp || opcode == Opcode::kSet;
    const bool two_types = opcode == Opcode::kCvt || opcode == Opcode::kDp2a || opcode == Opcode::kDp4a;
    const bool is_video = opcode >= Opcode::kVadd && opcode <= Opcode::kVset;
    const bool plain = opcode >= Opcode::kPrmt && opcode < Opcode::kNop;  // neither rounding nor many flags
    for (int type = 0; type <= kLastType; ++type) {
      for (int rounding = 0; rounding <= static_cast<int>(Rounding::kRpi); ++rounding) {
        for (int flags = 0; flags < 32; ++flags) {
          const int comparisons = opcode == Opcode::kSet ? 18 * 4 * (kLastType + 1) : 18 * 4;
          const int variants = is_setp     ? comparisons
                               : two_types ? 4 * (kLastType + 1)
                               : plain     ? 4 * 2 * 20
                                           : 4 * 2;
          if ((is_setp && (rounding != 0 || flags > 1)) || (plain && (rounding != 0 || flags > 3))) continue;
          for (int variant = 0; variant < variants; ++variant) {
            Instruction in = make(opcode, static_cast<Type>(type));
            in.rounding = static_cast<Rounding>(rounding);
            in.ftz = (flags & 1) != 0;
            in.sat = (flags & 2) != 0;
            in.approx = (flags & 4) != 0;
            in.full = (flags & 8) != 0;
            in.to_space = (flags & 16) != 0;
            in.relu = (opcode == Opcode::kFma || opcode == Opcode::kCvt) && (flags & 16) != 0;
            in.saturates_finite = opcode == Opcode::kCvt && (flags & 4) != 0;
            in.width = static_cast<Width>(variant % 4);
            if (is_video) {
              in.from = (variant & 1) != 0 ? Type::kS32 : Type::kU32;
              in.second = (variant & 2) != 0 ? Type::kS32 : Type::kU32;
              in.vector = (variant & 4) != 0 ? 4 : 2;
              in.accumulate = (variant & 8) != 0;
              if (variant >= 16 || opcode > Opcode::kVmax) {
                in.vector = 1;
                in.video.a = static_cast<ptx::VideoAccess::Part>(variant % 7);
                in.video.b = static_cast<ptx::VideoAccess::Part>(variant / 16 % 7);
                in.video.second = static_cast<ptx::VideoAccess::Second>(variant / 8 % 4);
                in.video.d = static_cast<ptx::VideoAccess::Part>(
                    in.video.second == ptx::VideoAccess::Second::kNone ? variant % 5 : 0);
                in.video.negate_product = opcode == Opcode::kVmad && variant % 3 == 0;
                in.compare = static_cast<Compare>(variant % 6);
              }
            } else if (two_types) {
              in.from = static_cast<Type>(variant / 4);
            } else if (is_setp) {
              in.width = Width::kDefault;
              in.combine = static_cast<Combine>(variant % 4);
              in.compare = static_cast<Compare>(variant / 4 % 18);
              if (opcode == Opcode::kSet) in.from = static_cast<Type>(variant / 72);
            } else {
              in.carry_out = variant / 4 % 2 != 0;
              in.mode = static_cast<ptx::Mode>(variant / 8);
            }
            if (in.carry_out && (rounding != 0 || flags != 0)) continue;
            visit(in);
          }
        }
      }
    }
  }
}

struct Outcome {
  alignas(64) std::array<std::uint64_t, kLanes> dst;
  std::array<std::uint32_t, 2> result;
  bool operator==(const Outcome& other) const { return dst == other.dst && result == other.result; }
};

struct Input {
  alignas(64) std::array<std::array<std::uint64_t, kLanes>, 4> src;
  std::array<std::uint32_t, 3> predicate;
  std::array<std::uint64_t, kLanes> dst;
};

Outcome run(LaneFunction function, const Input& input, std::uint32_t active) {
  Outcome outcome{input.dst, {}};
  Lanes lanes;
  lanes.dst = outcome.dst.data();
  for (unsigned n = 0; n < 4; ++n) lanes.src[n] = input.src[n].data();
  for (unsigned n = 0; n < 3; ++n) lanes.predicate[n] = input.predicate[n];
  lanes.active = active;
  function(lanes);
  outcome.result = {lanes.result[0] & active, lanes.result[1] & active};
  return outcome;
}

// Cells for 4-byte and for 8-byte lanes: two f32 operands, or one f64 operand, in each 8 bytes.
std::vector<Input> inputs() {
  Random random(99);
  std::vector<Input> all(24);
  for (std::size_t k = 0; k < all.size(); ++k) {
    for (auto& lanes : all[k].src) {
      for (auto& lane : lanes) {
        switch (k % 3) {
          case 0:
            lane = conformance::random_value({'f', 64, 1}, random);
            break;
          case 1:
            lane = conformance::random_value({'f', 32, 1}, random) << 32 |
                   conformance::random_value({'f', 32, 1}, random);
            break;
          default:
            lane = conformance::random_value({'u', 32, 1}, random) << 32 |
                   conformance::random_value({'u', 32, 1}, random);
        }
      }
    }
    for (auto& mask : all[k].predicate) mask = static_cast<std::uint32_t>(random());
    for (auto& lane : all[k].dst) lane = random();
  }
  return all;
}

TEST(Versions, GiveTheSameBits) {
  if (best_instruction_set() == InstructionSet::kBase)
    GTEST_SKIP() << "this processor has only the base version";
  const std::vector<Input> all = inputs();
  int compared = 0;
  for_each_instruction([&](const Instruction& in) {
    const LaneFunction base = find(in, InstructionSet::kBase), fast = find(in, InstructionSet::kX86_64_v3);
    ASSERT_EQ(base == nullptr, fast == nullptr) << name(in);
    if (base == nullptr) return;
    ++compared;
    for (std::size_t k = compared % 3; k < all.size();
         k += in.op == Opcode::kSetp || in.op == Opcode::kSet ? 5 : 1) {
      ASSERT_TRUE(run(base, all[k], 0xffffffff) == run(fast, all[k], 0xffffffff))
          << name(in) << " input " << k;
    }
    ASSERT_TRUE(run(base, all[0], 0x00f0a5c3) == run(fast, all[0], 0x00f0a5c3)) << name(in);
  });
  EXPECT_GT(compared, 3000);
}

// Whether a result has 8-byte lanes is seen from which bytes of the destination a function writes.
unsigned bytes_written(LaneFunction function, const Input& input) {
  Input other = input;
  for (auto& lane : other.dst) lane = ~lane;
  const Outcome one = run(function, input, 0xffffffff), two = run(function, other, 0xffffffff);
  const char *a = reinterpret_cast<const char*>(one.dst.data()),
             *b = reinterpret_cast<const char*>(two.dst.data());
  unsigned bytes = 0;
  while (bytes < 8 * kLanes && a[bytes] == b[bytes]) ++bytes;
  return bytes;
}

TEST(Versions, WriteTheActiveLanesOnly) {
  const std::vector<Input> all = inputs();
  const std::uint32_t active = 0x8421f00d;
  for (const InstructionSet set : {InstructionSet::kBase, best_instruction_set()}) {
    for_each_instruction([&](const Instruction& in) {
      const LaneFunction function = find(in, set);
      if (function == nullptr) return;
      const unsigned written = bytes_written(function, all[1]);
      if (in.op == Opcode::kSetp || in.op == Opcode::kTestp || in.type == Type::kPred) {
        ASSERT_EQ(written, 0u) << name(in);
        return;
      }
      ASSERT_TRUE(written == 4 * kLanes || written == 8 * kLanes) << name(in) << " writes " << written;
      const unsigned size = written / kLanes;
      const Outcome full = run(function, all[1], 0xffffffff), some = run(function, all[1], active);
      for (unsigned i = 0; i < kLanes; ++i) {
        const auto at = [&](const auto& lanes) {
          return reinterpret_cast<const char*>(lanes.data()) + size * i;
        };
        const bool is_active = ((active >> i) & 1) != 0;
        ASSERT_EQ(std::memcmp(at(some.dst), is_active ? at(full.dst) : at(all[1].dst), size), 0) << name(in);
      }
    });
  }
}

// The destination is the first source, or the pair of rows whose second row is the first source.
TEST(Versions, AllowTheDestinationToOverlapASource) {
  const std::vector<Input> all = inputs();
  for (const InstructionSet set : {InstructionSet::kBase, best_instruction_set()}) {
    for_each_instruction([&](const Instruction& in) {
      const LaneFunction function = find(in, set);
      if (function == nullptr || in.op == Opcode::kSetp || in.op == Opcode::kTestp || in.type == Type::kPred)
        return;
      const Outcome apart = run(function, all[2], 0xffffffff);
      const unsigned written = bytes_written(function, all[2]);
      for (const unsigned shift : {0u, 16u}) {
        alignas(64) std::array<std::uint64_t, 2 * kLanes> file{};
        std::memcpy(file.data() + shift, all[2].src[0].data(), sizeof all[2].src[0]);
        Lanes lanes;
        lanes.dst = file.data();
        lanes.src[0] = file.data() + shift;
        for (unsigned n = 1; n < 4; ++n) lanes.src[n] = all[2].src[n].data();
        for (unsigned n = 0; n < 3; ++n) lanes.predicate[n] = all[2].predicate[n];
        lanes.active = 0xffffffff;
        function(lanes);
        ASSERT_EQ(std::memcmp(file.data(), apart.dst.data(), written), 0) << name(in) << " shift " << shift;
      }
    });
  }
}

TEST(Versions, BaseCanBeForced) {
  setenv("WEFT_ISA", "base", 1);
  EXPECT_EQ(best_instruction_set(), InstructionSet::kBase);
  unsetenv("WEFT_ISA");
}

}  // namespace
}  // namespace weft::isa::test::versions_test
