// Moves, logic, shifts, bit fields and predicates, against loops over single bits.
#include <gtest/gtest.h>

#include "isa/harness.h"

namespace weft::isa::test::bits_test {
namespace {

const std::vector<Type> kUntyped = {Type::kB16, Type::kB32, Type::kB64};
const std::vector<Type> kAnyWidth = {Type::kB16, Type::kU16, Type::kS16, Type::kB32, Type::kU32, Type::kS32,
                                     Type::kB64, Type::kU64, Type::kS64, Type::kF32, Type::kF64};

unsigned bit(std::uint64_t value, unsigned position) {
  return (value >> position) & 1;
}

TEST(Bits, MoveAndSelect) {
  for (const Type type : kAnyWidth) {
    check_random(make(Opcode::kMov, type), type, {type}, [=](const Bits& x) { return cell(type, x[0]); });
    check_random(make(Opcode::kSelp, type), type, {type, type, Type::kPred},
                 [=](const Bits& x) { return cell(type, (x[2] & 1) != 0 ? x[0] : x[1]); });
  }
}

TEST(Bits, Logic) {
  for (const Type type : kUntyped) {
    check_random(make(Opcode::kAnd, type), type, {type, type},
                 [=](const Bits& x) { return cell(type, x[0] & x[1]); });
    check_random(make(Opcode::kOr, type), type, {type, type},
                 [=](const Bits& x) { return cell(type, x[0] | x[1]); });
    check_random(make(Opcode::kXor, type), type, {type, type},
                 [=](const Bits& x) { return cell(type, x[0] ^ x[1]); });
    check_random(make(Opcode::kNot, type), type, {type}, [=](const Bits& x) { return cell(type, ~x[0]); });
    check_random(make(Opcode::kCnot, type), type, {type}, [=](const Bits& x) { return x[0] == 0 ? 1 : 0; });
  }
}

TEST(Bits, Predicates) {
  const Type p = Type::kPred;
  check_random(make(Opcode::kMov, p), p, {p}, [](const Bits& x) { return x[0] & 1; });
  check_random(make(Opcode::kNot, p), p, {p}, [](const Bits& x) { return ~x[0] & 1; });
  check_random(make(Opcode::kAnd, p), p, {p, p}, [](const Bits& x) { return x[0] & x[1] & 1; });
  check_random(make(Opcode::kOr, p), p, {p, p}, [](const Bits& x) { return (x[0] | x[1]) & 1; });
  check_random(make(Opcode::kXor, p), p, {p, p}, [](const Bits& x) { return (x[0] ^ x[1]) & 1; });
}

TEST(Bits, ShiftsClampTheAmount) {
  for (const Type type : kUntyped) {
    const unsigned width = bits_of(type);
    check_random(make(Opcode::kShl, type), type, {type, Type::kU32}, [=](const Bits& x) {
      std::uint64_t shifted = 0;
      for (unsigned i = 0; i < width; ++i) {
        if (i >= x[1]) shifted |= std::uint64_t{bit(x[0], i - static_cast<unsigned>(x[1]))} << i;
      }
      return cell(type, shifted);
    });
  }
  for (const Type type : kAnyWidth) {
    if (is_float_type(type)) continue;
    const unsigned width = bits_of(type);
    check_random(make(Opcode::kShr, type), type, {type, Type::kU32}, [=](const Bits& x) {
      const unsigned fill = is_signed_type(type) ? bit(x[0], width - 1) : 0;
      std::uint64_t shifted = 0;
      for (unsigned i = 0; i < width; ++i) {
        const std::uint64_t from = i + x[1];
        shifted |= std::uint64_t{from < width ? bit(x[0], static_cast<unsigned>(from)) : fill} << i;
      }
      return cell(type, shifted);
    });
  }
  check_golden(make(Opcode::kShl, Type::kB32), Type::kB32, {Type::kB32, Type::kU32},
               {{{1, 31}, 0x80000000}, {{1, 32}, 0}, {{1, 33}, 0}, {{1, 0x80000000}, 0}});
  check_golden(make(Opcode::kShr, Type::kS64), Type::kS64, {Type::kS64, Type::kU32},
               {{{1ull << 63, 63}, ~0ull}, {{1ull << 63, 64}, ~0ull}, {{1ull << 62, 200}, 0}});
}

// The loops of the PTX ISA's definitions of bfe and bfi.
std::uint64_t extract(Type type, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const unsigned msb = bits_of(type) - 1, pos = b & 0xff, len = c & 0xff;
  const unsigned sign = !is_signed_type(type) || len == 0 ? 0 : bit(a, std::min(pos + len - 1, msb));
  std::uint64_t d = 0;
  for (unsigned i = 0; i <= msb; ++i) {
    d |= std::uint64_t{i < len && pos + i <= msb ? bit(a, pos + i) : sign} << i;
  }
  return d;
}
std::uint64_t insert(Type type, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  const unsigned msb = bits_of(type) - 1, pos = c & 0xff, len = d & 0xff;
  std::uint64_t f = b;
  for (unsigned i = 0; i < len && pos + i <= msb; ++i) {
    f = (f & ~(1ull << (pos + i))) | (std::uint64_t{bit(a, i)} << (pos + i));
  }
  return f;
}

TEST(Bits, Fields) {
  for (const Type type : {Type::kU32, Type::kS32, Type::kU64, Type::kS64}) {
    check_random(
        make(Opcode::kBfe, type), type, {type, Type::kU32, Type::kU32},
        [=](const Bits& x) { return extract(type, x[0], x[1], x[2]); }, 4 * kRandomOperands);
  }
  for (const Type type : {Type::kB32, Type::kB64}) {
    check_random(
        make(Opcode::kBfi, type), type, {type, type, Type::kU32, Type::kU32},
        [=](const Bits& x) { return insert(type, x[0], x[1], x[2], x[3]); }, 4 * kRandomOperands);
  }
  check_golden(make(Opcode::kBfe, Type::kS32), Type::kS32, {Type::kS32, Type::kU32, Type::kU32},
               {{{0x00000f00, 8, 4}, 0xffffffff},
                {{0x00000700, 8, 4}, 7},
                {{0x80000000, 40, 8}, 0xffffffff},  // beyond the top: the sign of the operand
                {{0x80000000, 31, 8}, 0xffffffff},
                {{0x80000000, 5, 0}, 0},
                {{0x12345678, 0x108, 8}, 0x56}});  // only the low 8 bits of position count
}

TEST(Bits, Counting) {
  for (const Type type : {Type::kB32, Type::kB64}) {
    const unsigned width = bits_of(type);
    check_random(make(Opcode::kPopc, type), Type::kU32, {type}, [=](const Bits& x) {
      std::uint64_t count = 0;
      for (unsigned i = 0; i < width; ++i) count += bit(x[0], i);
      return count;
    });
    check_random(make(Opcode::kClz, type), Type::kU32, {type}, [=](const Bits& x) {
      std::uint64_t count = 0;
      while (count < width && bit(x[0], width - 1 - static_cast<unsigned>(count)) == 0) ++count;
      return count;
    });
    check_random(make(Opcode::kBrev, type), type, {type}, [=](const Bits& x) {
      std::uint64_t reversed = 0;
      for (unsigned i = 0; i < width; ++i) reversed |= std::uint64_t{bit(x[0], i)} << (width - 1 - i);
      return reversed;
    });
  }
}

TEST(Bits, ConvertAddressAddsOrSubtractsTheWindow) {
  Instruction in = make(Opcode::kCvta, Type::kU64);
  check_golden(in, Type::kU64, {Type::kU64, Type::kU64}, {{{0x10, 0x1000000}, 0x1000010}});
  in.to_space = true;
  check_golden(in, Type::kU64, {Type::kU64, Type::kU64}, {{{0x1000010, 0x1000000}, 0x10}});
}

}  // namespace
}  // namespace weft::isa::test::bits_test
