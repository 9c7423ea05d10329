// Scalar video: one part of each operand, extended, an operation, and what follows it: saturation, then a
// second operation with c, or merging into c. PTX ISA 9.0, 9.7.18.1. No intermediate result is cut.
#include "isa/kernels.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

using ptx::VideoAccess;
__extension__ using s128 = __int128;

// Lanes::variant.
constexpr u32 kSignedA = 1, kSignedB = 2, kSignedD = 4, kSat = 8, kWrap = 16, kPlusOne = 32,
              kNegateProduct = 64, kNegateSum = 128;
constexpr u32 kPartA = 8, kPartB = 11, kPartD = 14, kSecond = 17, kCompare = 19,
              kShift = 22;  // where they begin

// Bits [at, at + width) of a word. x ^ sign - sign extends the sign; with 0 nothing changes.
struct Field {
  u32 at, mask, sign;
};
Field field_of(u32 part, bool is_signed) {
  const bool word = part == 0, byte = part >= 1 && part <= 4;
  const u32 at = word ? 0 : byte ? 8 * (part - 1) : 16 * (part - 5);
  const u32 mask = word ? 0xffffffffu : byte ? 0xff : 0xffff;
  return {at, mask, is_signed ? (mask >> 1) + 1 : 0};
}
WEFT_ALWAYS_INLINE s64 extract(const Field& f, u32 word) {
  return static_cast<s64>(((word >> f.at) & f.mask) ^ f.sign) - static_cast<s64>(f.sign);
}

struct Add {
  static WEFT_ALWAYS_INLINE s128 of(s64 a, s64 b, u32) { return a + b; }
};
struct Sub {
  static WEFT_ALWAYS_INLINE s128 of(s64 a, s64 b, u32) { return a - b; }
};
struct AbsoluteDifference {
  static WEFT_ALWAYS_INLINE s128 of(s64 a, s64 b, u32) { return a < b ? b - a : a - b; }
};
struct Min {
  static WEFT_ALWAYS_INLINE s128 of(s64 a, s64 b, u32) { return a < b ? a : b; }
};
struct Max {
  static WEFT_ALWAYS_INLINE s128 of(s64 a, s64 b, u32) { return a > b ? a : b; }
};
WEFT_ALWAYS_INLINE s64 amount(s64 b, u32 variant) {
  return (variant & kWrap) != 0 ? b & 31 : b < 32 ? b : 32;
}
struct ShiftLeft {
  static WEFT_ALWAYS_INLINE s128 of(s64 a, s64 b, u32 variant) {
    return static_cast<s128>(a) * (s128{1} << amount(b, variant));
  }
};
struct ShiftRight {
  static WEFT_ALWAYS_INLINE s128 of(s64 a, s64 b, u32 variant) { return a >> amount(b, variant); }
};
struct Comparison {
  static WEFT_ALWAYS_INLINE s128 of(s64 a, s64 b, u32 variant) {
    const bool holds[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, false, false};
    return holds[variant >> kCompare & 7] ? 1 : 0;
  }
};

WEFT_ALWAYS_INLINE s128 bounded(s128 x, s64 low, s64 high) {
  return x < low ? low : x > high ? high : x;
}

template <class Op>
void scalar(Lanes& lanes) {
  const u32 variant = lanes.variant;
  const bool is_signed = (variant & kSignedD) != 0;
  const Field a = field_of(variant >> kPartA & 7, (variant & kSignedA) != 0);
  const Field b = field_of(variant >> kPartB & 7, (variant & kSignedB) != 0);
  const Field d = field_of(variant >> kPartD & 7, is_signed), whole = field_of(0, is_signed);
  const bool merges = d.mask != whole.mask, sat = (variant & kSat) != 0;
  const s64 low = -static_cast<s64>(d.sign), high = static_cast<s64>(is_signed ? d.sign - 1 : d.mask);
  const auto second = static_cast<VideoAccess::Second>(variant >> kSecond & 3);
  const bool has_c = merges || second != VideoAccess::Second::kNone;
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const u32 word_c = has_c ? read<u32>(lanes.src[2], i) : 0;
    const s128 c = extract(whole, word_c);
    s128 x = Op::of(extract(a, read<u32>(lanes.src[0], i)), extract(b, read<u32>(lanes.src[1], i)), variant);
    if (sat) x = bounded(x, low, high);
    if (second == VideoAccess::Second::kAdd) x += c;
    if (second == VideoAccess::Second::kMin) x = c < x ? c : x;
    if (second == VideoAccess::Second::kMax) x = c > x ? c : x;
    const auto result = static_cast<u32>(x);
    computed[i] = merges ? (word_c & ~(d.mask << d.at)) | (result & d.mask) << d.at : result;
  }
  commit(lanes.dst, computed, lanes.active);
}

// (a * b) + c in its own way: negation as in hardware, by complements and a carry.
void multiply_add(Lanes& lanes) {
  const u32 variant = lanes.variant;
  const bool negates_product = (variant & kNegateProduct) != 0, negates_sum = (variant & kNegateSum) != 0;
  const bool is_signed = (variant & (kSignedA | kSignedB)) != 0 || negates_product || negates_sum;
  const Field a = field_of(variant >> kPartA & 7, (variant & kSignedA) != 0);
  const Field b = field_of(variant >> kPartB & 7, (variant & kSignedB) != 0), whole = field_of(0, is_signed);
  const u32 shift = variant >> kShift & 15;
  const s64 low = is_signed ? -(s64{1} << 31) : 0, high = is_signed ? (s64{1} << 31) - 1 : 0xffffffff;
  const s128 carry = (variant & kPlusOne) != 0 || negates_product || negates_sum ? 1 : 0;
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const u32 word_c = read<u32>(lanes.src[2], i);
    const s128 product =
        static_cast<s128>(extract(a, read<u32>(lanes.src[0], i))) * extract(b, read<u32>(lanes.src[1], i));
    const s128 sum =
        (negates_product ? ~product : product) + extract(whole, negates_sum ? ~word_c : word_c) + carry;
    const s128 scaled = sum >> shift;
    computed[i] = static_cast<u32>((variant & kSat) != 0 ? bounded(scaled, low, high) : scaled);
  }
  commit(lanes.dst, computed, lanes.active);
}

u32 variant_of(const Instruction& in) {
  const VideoAccess& v = in.video;
  return (in.from == Type::kS32 ? kSignedA : 0) | (in.second == Type::kS32 ? kSignedB : 0) |
         (in.type == Type::kS32 ? kSignedD : 0) | (in.sat ? kSat : 0) |
         (in.mode == ptx::Mode::kWrap ? kWrap : 0) | (v.plus_one ? kPlusOne : 0) |
         (v.negate_product ? kNegateProduct : 0) | (v.negate_sum ? kNegateSum : 0) |
         static_cast<u32>(v.a) << kPartA | static_cast<u32>(v.b) << kPartB | static_cast<u32>(v.d) << kPartD |
         static_cast<u32>(v.second) << kSecond | (static_cast<u32>(in.compare) & 7) << kCompare |
         static_cast<u32>(v.shift) << kShift;
}

}  // namespace

LaneFunction find_video_scalar(const Instruction& in) {
  const u32 variant = variant_of(in);
  switch (in.op) {
    case Opcode::kVadd:
      return {&scalar<Add>, variant};
    case Opcode::kVsub:
      return {&scalar<Sub>, variant};
    case Opcode::kVabsdiff:
      return {&scalar<AbsoluteDifference>, variant};
    case Opcode::kVmin:
      return {&scalar<Min>, variant};
    case Opcode::kVmax:
      return {&scalar<Max>, variant};
    case Opcode::kVshl:
      if (in.second != Type::kU32) return nullptr;
      return {&scalar<ShiftLeft>, variant};
    case Opcode::kVshr:
      if (in.second != Type::kU32) return nullptr;
      return {&scalar<ShiftRight>, variant};
    case Opcode::kVset:
      return in.compare <= ptx::Compare::kGe ? LaneFunction(&scalar<Comparison>, variant) : nullptr;
    case Opcode::kVmad:
      return {&multiply_add, variant};
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
