// Loads, stores and atomics on a small memory, against byte-wise copies and one-lane formulas.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "interpreter/bits.h"
#include "isa/address_span.h"
#include "isa/harness.h"

namespace weft::isa::test::memory_test {
namespace {

using ptx::Atomic;
using ptx::Space;
using weft::test::number;
using weft::test::width_of;

const std::vector<Type> kTypes = {Type::kU8,  Type::kS8,  Type::kB8,  Type::kU16, Type::kS16,
                                  Type::kB16, Type::kU32, Type::kS32, Type::kB32, Type::kF32,
                                  Type::kU64, Type::kS64, Type::kB64, Type::kF64};

// How the lanes' addresses lie.
enum class Pattern { kBlock, kReversed, kSame, kScattered, kNearlyBlock };
const std::vector<Pattern> kPatterns = {Pattern::kBlock, Pattern::kReversed, Pattern::kSame,
                                        Pattern::kScattered, Pattern::kNearlyBlock};

constexpr std::size_t kBytes = 4096;

std::array<std::uint64_t, kLanes> offsets(Pattern pattern, std::uint64_t stride, Random& random) {
  std::array<std::uint64_t, kLanes> offset{};
  for (unsigned i = 0; i < kLanes; ++i) {
    switch (pattern) {
      case Pattern::kBlock:
      case Pattern::kNearlyBlock:
        offset[i] = 64 + i * stride;
        break;
      case Pattern::kReversed:
        offset[i] = 64 + (kLanes - 1 - i) * stride;
        break;
      case Pattern::kSame:
        offset[i] = 128;
        break;
      case Pattern::kScattered:
        offset[i] = random() % (kBytes / stride) * stride;
        break;
    }
  }
  if (pattern == Pattern::kNearlyBlock) std::swap(offset[7], offset[11]);
  return offset;
}

struct Registers {
  alignas(64) std::array<std::array<std::uint64_t, kLanes>, 4> file{};
  void randomise(Random& random) {
    for (auto& each : file) {
      for (auto& lane : each) lane = random();
    }
  }
  std::uint64_t get(bool wide, unsigned n, unsigned lane) const {
    if (wide) return file[n][lane];
    std::uint32_t cell;
    std::memcpy(&cell, reinterpret_cast<const char*>(file[n].data()) + 4 * lane, 4);
    return cell;
  }
};

template <class Check>
void for_each_access(Opcode op, Check check) {
  Random random(11);
  for (const Type type : kTypes) {
    for (const unsigned count : {1u, 2u, 4u}) {
      for (const std::uint32_t active : {0xffffffffu, 0u, 0x80000001u, 0x5a5af00fu}) {
        for (const Pattern pattern : kPatterns) {
          for (const InstructionSet set : {InstructionSet::kBase, best_instruction_set()}) {
            Instruction in = make(op, type);
            in.vector = static_cast<std::uint8_t>(count);
            const MemoryFunction function = find_memory(in, set);
            ASSERT_NE(function, nullptr) << name(in);
            const std::uint64_t stride = width_of(type) / 8 * count;
            check(type, count, width_of(type) == 64, active, offsets(pattern, stride, random), function,
                  random);
          }
        }
      }
    }
  }
}

TEST(Memory, Loads) {
  for_each_access(Opcode::kLd, [](Type type, unsigned count, bool wide, std::uint32_t active,
                                  const auto& offset, MemoryFunction function, Random& random) {
    std::vector<std::uint8_t> memory(kBytes);
    for (auto& byte : memory) byte = static_cast<std::uint8_t>(random());
    Registers registers;
    registers.randomise(random);
    const Registers before = registers;
    MemoryLanes lanes;
    lanes.base = memory.data();
    lanes.offset = offset.data();
    lanes.active = active;
    for (unsigned n = 0; n < count; ++n) lanes.dst[n] = registers.file[n].data();
    function(lanes);
    const unsigned bytes = width_of(type) / 8;
    for (unsigned i = 0; i < kLanes; ++i) {
      for (unsigned n = 0; n < count; ++n) {
        std::uint64_t value = 0;
        std::memcpy(&value, &memory[offset[i] + n * bytes], bytes);
        const auto extended = static_cast<std::uint64_t>(number(type, value));
        const std::uint64_t expected = wide ? extended : extended & 0xffffffff;
        const bool written = ((active >> i) & 1) != 0;
        ASSERT_EQ(registers.get(wide, n, i), written ? expected : before.get(wide, n, i))
            << "type " << int(type) << " lane " << i << " element " << n;
      }
    }
  });
}

TEST(Memory, Stores) {
  for_each_access(Opcode::kSt, [](Type type, unsigned count, bool wide, std::uint32_t active,
                                  const auto& offset, MemoryFunction function, Random& random) {
    std::vector<std::uint8_t> memory(kBytes, 0xa5), expected(kBytes, 0xa5);
    Registers registers;
    registers.randomise(random);
    MemoryLanes lanes;
    lanes.base = memory.data();
    lanes.offset = offset.data();
    lanes.active = active;
    const unsigned bytes = width_of(type) / 8;
    for (unsigned n = 0; n < count; ++n) lanes.src[n] = registers.file[n].data();
    for (unsigned i = 0; i < kLanes; ++i) {
      for (unsigned n = 0; n < count && ((active >> i) & 1) != 0; ++n) {
        const std::uint64_t value = registers.get(wide, n, i);
        std::memcpy(&expected[offset[i] + n * bytes], &value, bytes);
      }
    }
    function(lanes);
    ASSERT_EQ(memory, expected) << "type " << int(type);
  });
}

// Runs one atomic with every lane on one address: `b` and `c` are the same for all lanes.
struct AtomicResult {
  std::uint64_t memory;
  std::array<std::uint64_t, 4> old;  // of lanes 0 to 3
};
AtomicResult run(Atomic op, Type type, std::uint64_t start, std::uint64_t b, std::uint64_t c,
                 unsigned lane_count, Space space = Space::kGlobal) {
  Instruction in = make(Opcode::kAtom, type);
  in.atomic = op;
  in.space = space;
  const MemoryFunction function = find_memory(in);
  EXPECT_NE(function, nullptr) << name(in);
  AtomicResult result{};
  if (function == nullptr) return result;
  const bool wide = width_of(type) == 64;
  std::array<std::uint64_t, kLanes> offset{};
  Registers registers;
  for (unsigned i = 0; i < kLanes; ++i) {
    std::memcpy(reinterpret_cast<char*>(registers.file[0].data()) + (wide ? 8 : 4) * i, &b, wide ? 8 : 4);
    std::memcpy(reinterpret_cast<char*>(registers.file[1].data()) + (wide ? 8 : 4) * i, &c, wide ? 8 : 4);
  }
  std::uint64_t memory = start;
  MemoryLanes lanes;
  lanes.base = reinterpret_cast<std::uint8_t*>(&memory);
  lanes.offset = offset.data();
  lanes.active = (1u << lane_count) - 1;
  lanes.src[0] = registers.file[0].data();
  lanes.src[1] = registers.file[1].data();
  lanes.dst[0] = registers.file[2].data();
  function(lanes);
  result.memory = memory;
  for (unsigned i = 0; i < 4; ++i) result.old[i] = registers.get(wide, 2, i);
  const std::uint64_t first = memory;
  lanes.dst[0] = nullptr;  // red
  memory = start;
  function(lanes);
  EXPECT_EQ(memory, first);
  return result;
}

TEST(Atomics, LanesActInOrder) {
  const AtomicResult added = run(Atomic::kAdd, Type::kU32, 10, 5, 0, 4);
  EXPECT_EQ(added.memory, 30u);
  EXPECT_EQ(added.old, (std::array<std::uint64_t, 4>{10, 15, 20, 25}));
  const AtomicResult exchanged = run(Atomic::kExch, Type::kB64, ~0ull, 7, 0, 2);
  EXPECT_EQ(exchanged.memory, 7u);
  EXPECT_EQ(exchanged.old[0], ~0ull);
  EXPECT_EQ(exchanged.old[1], 7u);
}

TEST(Atomics, Operations) {
  EXPECT_EQ(run(Atomic::kAdd, Type::kU32, 0xffffffff, 2, 0, 1).memory, 1u);
  EXPECT_EQ(run(Atomic::kAdd, Type::kU64, 0xffffffff, 2, 0, 1).memory, 0x100000001u);
  EXPECT_EQ(run(Atomic::kAdd, Type::kS32, 5, 0xfffffffd, 0, 1).memory, 2u);
  EXPECT_EQ(run(Atomic::kMin, Type::kS32, 1, 0xffffffff, 0, 1).memory, 0xffffffffu);
  EXPECT_EQ(run(Atomic::kMin, Type::kU32, 1, 0xffffffff, 0, 1).memory, 1u);
  EXPECT_EQ(run(Atomic::kMax, Type::kS64, 1, ~0ull, 0, 1).memory, 1u);
  EXPECT_EQ(run(Atomic::kMax, Type::kU64, 1, ~0ull, 0, 1).memory, ~0ull);
  EXPECT_EQ(run(Atomic::kInc, Type::kU32, 4, 5, 0, 1).memory, 5u);
  EXPECT_EQ(run(Atomic::kInc, Type::kU32, 4, 5, 0, 3).memory, 1u);  // 4, 5, wraps to 0, 1
  EXPECT_EQ(run(Atomic::kDec, Type::kU32, 1, 5, 0, 1).memory, 0u);
  EXPECT_EQ(run(Atomic::kDec, Type::kU32, 0, 5, 0, 1).memory, 5u);
  EXPECT_EQ(run(Atomic::kDec, Type::kU32, 9, 5, 0, 1).memory, 5u);
  EXPECT_EQ(run(Atomic::kCas, Type::kB32, 3, 3, 9, 1).memory, 9u);
  EXPECT_EQ(run(Atomic::kCas, Type::kB32, 4, 3, 9, 1).memory, 4u);
  EXPECT_EQ(run(Atomic::kCas, Type::kB64, 1ull << 40, 1ull << 40, 9, 1).memory, 9u);
  EXPECT_EQ(run(Atomic::kAnd, Type::kB32, 12, 10, 0, 1).memory, 8u);
  EXPECT_EQ(run(Atomic::kOr, Type::kB32, 12, 10, 0, 1).memory, 14u);
  EXPECT_EQ(run(Atomic::kXor, Type::kB64, 12, 10, 0, 1).memory, 6u);
}

TEST(Atomics, Floats) {
  EXPECT_EQ(run(Atomic::kAdd, Type::kF32, 0x3fc00000, 0x40000000, 0, 2).memory, 0x40b00000u);
  EXPECT_EQ(run(Atomic::kAdd, Type::kF64, 0x3ff8000000000000, 0x4000000000000000, 0, 2).memory,
            0x4016000000000000u);
  // Subnormals are flushed in global memory and kept in shared memory.
  EXPECT_EQ(run(Atomic::kAdd, Type::kF32, 0x00000001, 0x00000001, 0, 1).memory, 0u);
  EXPECT_EQ(run(Atomic::kAdd, Type::kF32, 0x00000001, 0x00000001, 0, 1, Space::kShared).memory, 2u);
}

TEST(Atomics, TypesWithoutOperation) {
  Instruction in = make(Opcode::kAtom, Type::kF32);
  in.atomic = Atomic::kInc;
  EXPECT_EQ(find_memory(in), nullptr);
  EXPECT_EQ(find_memory(make(Opcode::kAdd, Type::kU32)), nullptr);
  EXPECT_EQ(find(make(Opcode::kLd, Type::kU32)), nullptr);
}

TEST(Addresses, BasePlusOffset) {
  std::array<std::uint64_t, kLanes> wide{}, address{};
  std::array<std::uint32_t, kLanes> narrow{};
  for (unsigned i = 0; i < kLanes; ++i) {
    wide[i] = 0x100000000 * i;
    narrow[i] = 0xffffff00 + i;
  }
  addresses(wide.data(), AddressKind::kWide, -8, address.data());
  EXPECT_EQ(address[0], ~0ull - 7);
  EXPECT_EQ(address[31], 0x1efffffff8u);
  addresses(narrow.data(), AddressKind::kNarrow, 16, address.data());
  EXPECT_EQ(address[0], 0xffffff10u);
  EXPECT_EQ(address[31], 0xffffff2fu);
  // Addresses of 32 bits wrap, and of a 64-bit register only the low half counts.
  addresses(narrow.data(), AddressKind::kNarrow, 0x104, address.data());
  EXPECT_EQ(address[0], 4u);
  EXPECT_EQ(address[31], 0x23u);
  addresses(wide.data(), AddressKind::kLow, 20, address.data());
  EXPECT_EQ(address[0], 20u);
  EXPECT_EQ(address[31], 20u);
  addresses(wide.data(), AddressKind::kLow, -4, address.data());
  EXPECT_EQ(address[31], 0xfffffffcu);
}

TEST(Addresses, WhatTheSpaceMakesOfThem) {
  const auto kind = [](Space space, bool wide) {
    Instruction in = make(Opcode::kLd, Type::kU32);
    in.space = space;
    in.wide_address = wide;
    return address_kind(in);
  };
  for (const Space space : {Space::kShared, Space::kLocal, Space::kParam}) {
    EXPECT_EQ(kind(space, true), AddressKind::kLow);
    EXPECT_EQ(kind(space, false), AddressKind::kNarrow);
  }
  EXPECT_EQ(kind(Space::kConst, false), AddressKind::kNarrow);
  for (const Space space : {Space::kConst, Space::kGlobal, Space::kGeneric})
    EXPECT_EQ(kind(space, true), AddressKind::kWide);
}

// Against the smallest and the largest of the active addresses one by one; across 2^63, too.
TEST(Addresses, WhatTheActiveLanesCover) {
  Random random(7);
  for (unsigned turn = 0; turn < 2000; ++turn) {
    const AddressKind kind = turn % 4 == 0   ? AddressKind::kLow
                             : turn % 2 == 0 ? AddressKind::kWide
                                             : AddressKind::kNarrow;
    const bool wide = kind != AddressKind::kNarrow;
    const std::uint64_t kept = kind == AddressKind::kWide ? ~std::uint64_t{0} : 0xffffffff;
    std::array<std::uint64_t, kLanes> base{};
    std::array<std::uint32_t, kLanes> narrow{};
    for (unsigned i = 0; i < kLanes; ++i) {
      base[i] = static_cast<std::uint64_t>(random()) >> random() % 64;
      narrow[i] = static_cast<std::uint32_t>(base[i]);
      if (!wide) base[i] = narrow[i];
    }
    const auto offset = static_cast<std::int64_t>(random()) >> random() % 64;
    std::uint32_t active = turn % 3 == 0 ? ~0u : static_cast<std::uint32_t>(random());
    if (active == 0) active = 1u << turn % 32;
    AddressSpan want{~0ull, 0, 0};
    for (unsigned i = 0; i < kLanes; ++i) {
      if ((active >> i & 1) == 0) continue;
      const std::uint64_t a = (base[i] + static_cast<std::uint64_t>(offset)) & kept;
      want = {std::min(want.low, a), std::max(want.high, a), want.bits | a};
    }
    for (const auto set : {InstructionSet::kBase, best_instruction_set()}) {
      std::array<std::uint64_t, kLanes> address{};
      const void* lanes = wide ? static_cast<const void*>(base.data()) : narrow.data();
      const AddressSpan got = find_addresses(kind, set)(lanes, offset, active, address.data());
      ASSERT_EQ(got.low, want.low) << turn;
      ASSERT_EQ(got.high, want.high) << turn;
      ASSERT_EQ(got.bits, want.bits) << turn;
      for (unsigned i = 0; i < kLanes; ++i) {
        const bool is_active = (active >> i & 1) != 0;
        if (is_active) {
          ASSERT_EQ(address[i], (base[i] + static_cast<std::uint64_t>(offset)) & kept);
        } else {
          ASSERT_TRUE(address[i] >= want.low && address[i] <= want.high) << "the address of an active lane";
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::isa::test::memory_test
