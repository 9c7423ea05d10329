// ld and st: 32 lanes between registers and the memory image. Consecutive addresses of a full mask are one
// block copy.
#include "isa/address_span.h"
#include "isa/kernels.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

// Do all lanes access one block, lane i at offset[0] + i * stride?
WEFT_ALWAYS_INLINE bool is_block(const MemoryLanes& lanes, u64 stride) {
  const u64* offset = lanes.offset;
  if (lanes.active != 0xffffffffu || offset[kLanes - 1] - offset[0] != (kLanes - 1) * stride) return false;
  u64 difference = 0;
  for (unsigned i = 0; i < kLanes; ++i) difference |= offset[i] ^ (offset[0] + i * stride);
  return difference == 0;
}

template <class V>
WEFT_ALWAYS_INLINE V load_value(const u8* p) {
  V value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}

// kCount elements of type V, each into its own register.
template <class V, unsigned kCount>
struct Access {
  using Cell = Aliased<typename Port<V>::Cell>;
  static constexpr u64 kStride = sizeof(V) * kCount;

  static WEFT_ALWAYS_INLINE void load_lane(const MemoryLanes& lanes, const u8* p, unsigned i) {
    for (unsigned e = 0; e < kCount; ++e) {
      static_cast<Cell*>(lanes.dst[e])[i] = Port<V>::put(load_value<V>(p + e * sizeof(V)));
    }
  }
  static WEFT_ALWAYS_INLINE void store_lane(const MemoryLanes& lanes, u8* p, unsigned i) {
    for (unsigned e = 0; e < kCount; ++e) {
      const V value = Port<V>::get(static_cast<const Cell*>(lanes.src[e])[i]);
      __builtin_memcpy(p + e * sizeof(V), &value, sizeof value);
    }
  }

  static void load(const MemoryLanes& lanes) {
    if (is_block(lanes, kStride)) {
      const u8* p = lanes.base + lanes.offset[0];
      if constexpr (kCount == 1 && sizeof(V) == sizeof(Cell)) {
        __builtin_memcpy(lanes.dst[0], p, kLanes * sizeof(V));
      } else {
        for (unsigned i = 0; i < kLanes; ++i) load_lane(lanes, p + i * kStride, i);
      }
      return;
    }
    if (lanes.active == 0xffffffffu) {
      for (unsigned i = 0; i < kLanes; ++i) load_lane(lanes, lanes.base + lanes.offset[i], i);
      return;
    }
    for (u32 left = lanes.active; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(__builtin_ctz(left));
      load_lane(lanes, lanes.base + lanes.offset[i], i);
    }
  }
  static void store(const MemoryLanes& lanes) {
    if (is_block(lanes, kStride)) {
      u8* p = lanes.base + lanes.offset[0];
      if constexpr (kCount == 1 && sizeof(V) == sizeof(Cell)) {
        __builtin_memcpy(p, lanes.src[0], kLanes * sizeof(V));
      } else {
        for (unsigned i = 0; i < kLanes; ++i) store_lane(lanes, p + i * kStride, i);
      }
      return;
    }
    for (u32 left = lanes.active; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(__builtin_ctz(left));
      store_lane(lanes, lanes.base + lanes.offset[i], i);
    }
  }
};

struct Accesses {
  bool is_load;
  unsigned count;
  template <class V>
  MemoryFunction make() const {
    switch (count) {
      case 1:
        return direction<Access<V, 1>>();
      case 2:
        return direction<Access<V, 2>>();
      case 4:
        return direction<Access<V, 4>>();
      default:
        return nullptr;
    }
  }

 private:
  template <class Kernel>
  MemoryFunction direction() const {
    return is_load ? &Kernel::load : &Kernel::store;
  }
};

// Comparisons are signed after the sign bit is flipped: vector instructions have no others.
template <class Cell, class Sum>
AddressSpan spread(const void* base, s64 offset, u32 active, u64* address) {
  const auto* lanes = static_cast<const Aliased<Cell>*>(base);
  const auto added = static_cast<Sum>(offset);
  const auto sum = [&](unsigned i) { return u64{static_cast<Sum>(static_cast<Sum>(lanes[i]) + added)}; };
  if (active == 0xffffffffu) {
    for (unsigned i = 0; i < kLanes; ++i) address[i] = sum(i);
  } else {
    const u64 first = sum(static_cast<unsigned>(__builtin_ctz(active)));
    const u64 mask = active;
    for (unsigned i = 0; i < kLanes; ++i) {
      address[i] = (mask & kBitTable<u64>.bit[i]) != 0 ? sum(i) : first;
    }
  }
  constexpr u64 kSign = u64{1} << 63;
  s64 low = std::numeric_limits<s64>::max(), high = std::numeric_limits<s64>::min();
  u64 bits = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const auto a = static_cast<s64>(address[i] ^ kSign);
    low = a < low ? a : low;
    high = a > high ? a : high;
    bits |= address[i];
  }
  return {static_cast<u64>(low) ^ kSign, static_cast<u64>(high) ^ kSign, bits};
}

}  // namespace

AddressFunction find_addresses(AddressKind kind) {
  return kind == AddressKind::kWide  ? &spread<u64, u64>
         : kind == AddressKind::kLow ? &spread<u64, u32>
                                     : &spread<u32, u32>;
}

MemoryFunction find_access(const Instruction& in) {
  const Accesses accesses{in.op == Opcode::kLd, in.vector};
  return choose<u8, s8, u16, s16, u32, s32, u64, s64>(as_bits(in.type), accesses);
}

}  // namespace weft::isa::WEFT_ISA_VERSION
