#include "isa/harness.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "interpreter/evaluate.h"

namespace weft::isa::test {

unsigned bits_of(Type type) {
  switch (type) {
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
      return 8;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBf16:
      return 16;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
      return 64;
    case Type::kPred:
      return 1;
    default:
      return 32;
  }
}

bool is_signed_type(Type type) {
  return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64;
}

bool is_float_type(Type type) {
  return type == Type::kF32 || type == Type::kF64;
}

std::string name(const Instruction& in) {
  std::ostringstream text;
  text << "opcode " << int(in.op) << " type " << int(in.type) << " from " << int(in.from) << " rounding "
       << int(in.rounding) << " compare " << int(in.compare) << " combine " << int(in.combine) << " width "
       << int(in.width) << " atomic " << int(in.atomic) << (in.ftz ? " ftz" : "") << (in.sat ? " sat" : "")
       << (in.approx ? " approx" : "") << (in.full ? " full" : "");
  return text.str();
}

namespace {

std::uint64_t low(unsigned bits, std::uint64_t value) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

bool is_wide(Type type) {
  return bits_of(type) == 64;
}

void store(std::vector<std::uint64_t>& lanes, Type type, unsigned lane, std::uint64_t value) {
  char* bytes = reinterpret_cast<char*>(lanes.data());
  if (is_wide(type)) {
    std::memcpy(bytes + 8 * lane, &value, 8);
    return;
  }
  const std::uint64_t rubbish = bits_of(type) < 32 ? std::uint64_t{0xdeadbeef} << bits_of(type) : 0;
  const auto cell = static_cast<std::uint32_t>(low(bits_of(type), value) | rubbish);
  std::memcpy(bytes + 4 * lane, &cell, 4);
}

std::uint64_t load(const std::vector<std::uint64_t>& lanes, Type type, unsigned lane) {
  const char* bytes = reinterpret_cast<const char*>(lanes.data());
  if (is_wide(type)) return lanes[lane];
  std::uint32_t cell = 0;
  std::memcpy(&cell, bytes + 4 * lane, 4);
  return cell;
}

std::uint64_t pick(Random& random, const std::vector<std::uint64_t>& from) {
  return from[random() % from.size()];
}

std::uint64_t random_float(Random& random) {
  static const std::vector<std::uint64_t> corners = {
      0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fffffff, 0x7fc12345, 0xffc00000, 0x7f800001,
      0xffabcdef, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff,
      0xff7fffff, 0x3f800000, 0xbf800000, 0x3f000000, 0x3fc00000, 0x40200000, 0x4f000000, 0x4effffff,
      0xcf000000, 0x4f800000, 0x5f000000, 0x5f800000, 0x3f7fffff, 0x3f800001, 0x7e800000, 0x7e800001};
  const std::uint64_t any = random() & 0xffffffff;
  switch (random() % 4) {
    case 0:
      return pick(random, corners);
    case 1:
      return any;
    case 2:  // near 1, where sums cancel and products do not overflow
      return (any & 0x807fffff) | ((112 + random() % 30) << 23);
    default:  // near the subnormals
      return (any & 0x807fffff) | ((random() % 60) << 23);
  }
}

std::uint64_t random_double(Random& random) {
  static const std::vector<std::uint64_t> corners = {
      0x0000000000000000, 0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7fffffffffffffff,
      0xfff8000000000000, 0x7ff8000000012345, 0x7ff0000000000001, 0xfff4000000000007, 0x0000000000000001,
      0x8000000000000001, 0x000fffffffffffff, 0x800fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
      0xffefffffffffffff, 0x3ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000, 0x3ff8000000000000,
      0x4004000000000000, 0x41e0000000000000, 0x41dfffffffc00000, 0xc1e0000000000000, 0x41efffffffe00000,
      0x43e0000000000000, 0x43f0000000000000, 0xc3e0000000000000, 0x47efffffe0000000, 0x47effffff0000000,
      0x36a0000000000000, 0x3690000000000000, 0x380fffffffffffff};
  const std::uint64_t any = random();
  switch (random() % 5) {
    case 0:
      return pick(random, corners);
    case 1:
      return any;
    case 2:
      return (any & 0x800fffffffffffff) | ((1005 + random() % 40) << 52);
    case 3:  // in and around the range of f32, subnormals included
      return (any & 0x800fffffffffffff) | ((860 + random() % 300) << 52);
    default:
      return (any & 0x800fffffffffffff) | ((random() % 120) << 52);
  }
}

std::uint64_t random_half(Type type, Random& random) {
  static const std::vector<std::uint64_t> corners = {
      0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x007f, 0x0080, 0x8080, 0x7bff,
      0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfeab, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fff, 0x3c00, 0xbc00,
      0x3f80, 0xbf80, 0x3800, 0x3bff, 0x3c01, 0x3f00, 0x3f81, 0x3fc0, 0x7800, 0x1000, 0x3b80};
  const std::uint64_t any = random() & 0xffff;
  const bool bf16 = type == Type::kBf16;
  const std::uint64_t fraction = bf16 ? 0x807f : 0x83ff;
  const unsigned shift = bf16 ? 7 : 10;
  switch (random() % 4) {
    case 0:
      return pick(random, corners);
    case 1:
      return any;
    case 2:  // near 1, where sums cancel and products do not overflow
      return (any & fraction) | ((bf16 ? 117 + random() % 20 : 9 + random() % 12) << shift);
    default:  // near the subnormals
      return (any & fraction) | ((random() % 8) << shift);
  }
}

}  // namespace

std::uint64_t cell(Type type, std::uint64_t value) {
  const unsigned bits = bits_of(type);
  std::uint64_t extended = low(bits, value);
  if (is_signed_type(type) && bits < 64 && ((extended >> (bits - 1)) & 1) != 0) extended |= ~low(bits, ~0ull);
  return bits == 64 ? extended : extended & 0xffffffff;
}

Wide integer(Type type, std::uint64_t value) {
  const unsigned bits = bits_of(type);
  Wide result = low(bits, value);
  if (is_signed_type(type) && ((result >> (bits - 1)) & 1) != 0) result -= Wide{1} << bits;
  return result;
}

float as_float(std::uint64_t value) {
  const auto narrow = static_cast<std::uint32_t>(value);
  float x;
  std::memcpy(&x, &narrow, 4);
  return x;
}
double as_double(std::uint64_t value) {
  double x;
  std::memcpy(&x, &value, 8);
  return x;
}
std::uint64_t bits(float x) {
  std::uint32_t value;
  std::memcpy(&value, &x, 4);
  return value;
}
std::uint64_t bits(double x) {
  std::uint64_t value;
  std::memcpy(&value, &x, 8);
  return value;
}

std::uint64_t random_operand(Type type, Random& random) {
  if (type == Type::kF32) return random_float(random);
  if (type == Type::kF64) return random_double(random);
  if (type == Type::kF16 || type == Type::kBf16) return random_half(type, random);
  if (type == Type::kF16x2 || type == Type::kBf16x2) {
    const Type half = type == Type::kF16x2 ? Type::kF16 : Type::kBf16;
    return random_half(half, random) << 16 | random_half(half, random);
  }
  const unsigned width = bits_of(type);
  switch (random() % 4) {
    case 0: {
      static const std::vector<std::uint64_t> corners = {0,
                                                         1,
                                                         ~0ull,
                                                         0x7f,
                                                         0x80,
                                                         0xff,
                                                         0x7fff,
                                                         0x8000,
                                                         0xffff,
                                                         0x7fffffff,
                                                         0x80000000,
                                                         0xffffffff,
                                                         0x100000000,
                                                         0x7fffffffffffffff,
                                                         0x8000000000000000,
                                                         0xffffffff80000000};
      return low(width, pick(random, corners));
    }
    case 1:
      return low(width, random() % 70);
    case 2:
      return low(width, random() >> (random() % 64));
    default:
      return low(width, random());
  }
}

std::vector<std::uint64_t> evaluate(const Instruction& in, Type result, const std::vector<Type>& types,
                                    const std::vector<Bits>& operands) {
  const LaneFunction function = find(in);
  EXPECT_NE(function, nullptr) << name(in);
  std::vector<std::uint64_t> results;
  if (function == nullptr) return results;
  std::vector<std::vector<std::uint64_t>> sources(4, std::vector<std::uint64_t>(kLanes));
  std::vector<std::uint64_t> out(kLanes);
  for (std::size_t first = 0; first < operands.size(); first += kLanes) {
    const auto used = static_cast<unsigned>(std::min<std::size_t>(kLanes, operands.size() - first));
    Lanes lanes;
    lanes.dst = out.data();
    lanes.active = used == kLanes ? 0xffffffffu : (1u << used) - 1;
    for (std::size_t n = 0; n < types.size(); ++n) {
      for (unsigned i = 0; i < used; ++i) {
        if (types[n] == Type::kPred) {
          lanes.predicate[n] |= static_cast<std::uint32_t>(operands[first + i][n] & 1) << i;
        } else {
          store(sources[n], types[n], i, operands[first + i][n]);
        }
      }
      lanes.src[n] = sources[n].data();
    }
    function(lanes);
    for (unsigned i = 0; i < used; ++i) {
      results.push_back(result == Type::kPred ? (lanes.result[0] >> i) & 1 : load(out, result, i));
    }
  }
  return results;
}

namespace {

void compare(const Instruction& in, const std::vector<Type>& types, const Bits& operands, std::uint64_t found,
             std::uint64_t expected, int& failures) {
  if (found == expected || ++failures > 5) return;
  std::ostringstream text;
  text << std::hex;
  for (std::size_t n = 0; n < types.size(); ++n) text << " 0x" << operands[n];
  ADD_FAILURE() << name(in) << "\n operands" << text.str() << "\n found 0x" << std::hex << found
                << ", expected 0x" << expected;
}

}  // namespace

void check_random(const Instruction& in, Type result, const std::vector<Type>& types, const Oracle& oracle,
                  std::size_t count) {
  Random random(2026 + 131 * static_cast<unsigned>(in.op) + static_cast<unsigned>(in.type));
  std::vector<Bits> operands(count);
  for (Bits& each : operands) {
    for (std::size_t n = 0; n < types.size(); ++n) each[n] = random_operand(types[n], random);
  }
  const std::vector<std::uint64_t> results = evaluate(in, result, types, operands);
  int failures = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    compare(in, types, operands[i], results[i], oracle(operands[i]), failures);
  }
  EXPECT_EQ(failures, 0) << "of " << results.size() << ": " << name(in);
}

Oracle interpreted(const Instruction& in) {
  return [in](const Bits& x) {
    const weft::test::Result result = weft::test::evaluate(in, {x[0], x[1], x[2], x[3], 0});
    return weft::test::writes_predicates(in) ? std::uint64_t{result.p} : result.value;
  };
}

void check_golden(const Instruction& in, Type result, const std::vector<Type>& types,
                  const std::vector<Golden>& cases) {
  std::vector<Bits> operands;
  for (const Golden& each : cases) operands.push_back(each.operands);
  const std::vector<std::uint64_t> results = evaluate(in, result, types, operands);
  int failures = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    compare(in, types, operands[i], results[i], cases[i].expected, failures);
  }
}

}  // namespace weft::isa::test
