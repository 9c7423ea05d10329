// Bytes as values of signals, byte 0 in the lowest bits.
#ifndef WEFT_PLATFORM_SIGNAL_WORDS_H
#define WEFT_PLATFORM_SIGNAL_WORDS_H

#include <cstdint>
#include <cstring>
#include <systemc>

#include "weft/platform/signal_hop.h"

namespace weft {

template <unsigned kBits>
SignalValue<kBits> word_of(const unsigned char* bytes) {
  SignalValue<kBits> value{};
  if constexpr (kBits <= 64) {
    std::memcpy(&value, bytes, kBits / 8);
  } else {
    for (unsigned i = 0; i < kBits / 32; ++i) {
      std::uint32_t part = 0;
      std::memcpy(&part, bytes + 4 * i, 4);
      value.set_word(static_cast<int>(i), part);
    }
  }
  return value;
}

template <unsigned kBits>
void take_word(const SignalValue<kBits>& value, unsigned char* bytes) {
  if constexpr (kBits <= 64) {
    std::memcpy(bytes, &value, kBits / 8);
  } else {
    for (unsigned i = 0; i < kBits / 32; ++i) {
      const std::uint32_t part = value.get_word(static_cast<int>(i));
      std::memcpy(bytes + 4 * i, &part, 4);
    }
  }
}

// A bit for each of kBits bytes that are 0 or 1.
template <unsigned kBits>
SignalValue<kBits> strobes_of(const unsigned char* bytes) {
  unsigned char packed[(kBits + 7) / 8 + 7] = {};
  for (unsigned i = 0; i < kBits; ++i) packed[i / 8] |= static_cast<unsigned char>(bytes[i] << i % 8);
  if constexpr (kBits < 32) {
    std::uint32_t value = 0;
    std::memcpy(&value, packed, 4);
    return value;
  } else {
    return word_of<kBits>(packed);
  }
}

// In a trace file, with its own number of bits.
template <class T>
void trace_field(sc_core::sc_trace_file* file, const sc_core::sc_signal<T>& field, int bits) {
  sc_core::sc_trace(file, field.read(), field.name(), bits);
}

template <unsigned kBits>
void trace_strobes(sc_core::sc_trace_file* file, const sc_core::sc_signal<SignalValue<kBits>>& strobes) {
  if constexpr (kBits < 32) {
    trace_field(file, strobes, kBits);
  } else {
    sc_core::sc_trace(file, strobes.read(), strobes.name());
  }
}

}  // namespace weft

#endif
