#include "memory/channel_map.h"

#include <algorithm>

#include "common/bits.h"
#include "common/config_origins.h"
#include "weft/common/error.h"

namespace weft::memory {
namespace {

void need_power_of_two(const std::string& where, std::uint64_t value) {
  if (!is_power_of_two(value)) throw InputError(where, std::to_string(value) + " is not a power of two");
}

// The hash of slices has so many bits; at least 1, so that there is a polynomial.
unsigned hash_bits(const ChannelMapConfig& config) {
  unsigned bits = 0;
  while (std::uint64_t{1} << bits < config.channels) ++bits;
  for (std::uint64_t banks = config.l2_banks; banks > 1; banks /= 2) ++bits;
  return std::max(bits, 1u);
}

}  // namespace

void ChannelMapConfig::describe(config::Visitor& v) {
  v.integer("channels", channels, {1, kMostSlices}, "channels",
            "memory channels; need not be a power of two");
  v.integer("interleave_bytes", interleave_bytes, {32, 1u << 20}, "bytes",
            "consecutive bytes on one channel and L2 bank; a power of two");
  config::choice(
      v, "slice_order", slice_order,
      {{"channels", SliceOrder::kChannels}, {"l2_banks", SliceOrder::kL2Banks}},
      "what consecutive chunks of interleave_bytes go round first: the channels, or the L2 banks of "
      "a channel");
  config::choice(
      v, "slice_hash", slice_hash,
      {{"none", SliceHash::kNone},
       {"xor", SliceHash::kXor},
       {"polynomial", SliceHash::kPolynomial},
       {"balanced", SliceHash::kBalanced}},
      "what the number of the channel and L2 bank is combined with by exclusive or: nothing, the address "
      "bits "
      "above, or their remainder modulo an irreducible polynomial; balanced: polynomial with a power of two "
      "of L2 banks in total, otherwise a hash of the bits above is added");
  v.integer("slice_hash_shift", slice_hash_shift, {0, 32}, "bits",
            "bits above the number of the channel and L2 bank that slice_hash leaves out");
  describe_banks(v);
  v.integer("row_bytes", row_bytes, {64, 1u << 20}, "bytes",
            "row of a bank, over all devices of the channel; a power of two");
  v.integer("bank_interleave_bytes", bank_interleave_bytes, {32, 1u << 20}, "bytes",
            "consecutive bytes of a channel in one bank; a power of two");
  v.integer("alternating_banks", alternating_banks, {1, 64}, "banks",
            "banks that alternate every interleave_bytes; sets of this many banks alternate every "
            "bank_interleave_bytes; divides banks");
  v.boolean("bank_xor", bank_xor, "exclusive-or the low bits of the row into the bank number");
}

void ChannelMapConfig::describe_banks(config::Visitor& v) {
  v.integer("banks", banks, {1, 64}, "banks", "banks of a channel");
}

void ChannelMapConfig::check(const std::string& where) const {
  need_power_of_two(where + "/interleave_bytes", interleave_bytes);
  need_power_of_two(where + "/row_bytes", row_bytes);
  need_power_of_two(where + "/bank_interleave_bytes", bank_interleave_bytes);
  if (interleave_bytes > bank_interleave_bytes || bank_interleave_bytes > row_bytes) {
    throw config::RuleError(
        where + "/bank_interleave_bytes", {where + "/interleave_bytes", where + "/row_bytes"},
        std::to_string(bank_interleave_bytes) + " is not between interleave_bytes (" +
            std::to_string(interleave_bytes) + ") and row_bytes (" + std::to_string(row_bytes) + ")");
  }
  if (banks % alternating_banks != 0) {
    throw config::RuleError(where + "/alternating_banks", {where + "/banks"},
                            "found " + std::to_string(alternating_banks) +
                                "; allowed: divisors of banks = " + std::to_string(banks));
  }
  if (bank_xor) need_power_of_two(where + "/banks", banks);
  if (slices() > kMostSlices) {
    throw InputError(where + "/l2_banks", std::to_string(slices()) +
                                              " L2 banks in total (channels x l2_banks); allowed: at most " +
                                              std::to_string(kMostSlices));
  }
  const bool any_banks = slice_hash == SliceHash::kBalanced || is_power_of_two(l2_banks);
  if (slice_hash != SliceHash::kNone && (slices() == 1 || !any_banks)) {
    throw InputError(where + "/slice_hash",
                     "found a hash with channels = " + std::to_string(channels) + " and " +
                         std::to_string(l2_banks) +
                         " L2 banks per channel; allowed: none, or more than one L2 bank in total and "
                         "(except balanced) a power of two per channel");
  }
}

ChannelMap::ChannelMap(const ChannelMapConfig& config)
    : chunk_(config.interleave_bytes),
      channels_(config.channels),
      l2_banks_(config.l2_banks),
      slices_(config.slices()),
      block_(config.bank_interleave_bytes),
      banks_(config.banks),
      alternating_(config.alternating_banks),
      turns_(config.banks / config.alternating_banks),
      row_(config.row_bytes),
      bank_xor_(config.bank_xor),
      plain_(config.slice_order == SliceOrder::kChannels && config.slice_hash == SliceHash::kNone),
      order_(config.slice_order),
      hash_kind_(config.slice_hash),
      hash_shift_(static_cast<unsigned>(config.slice_hash_shift)),
      displaced_(config.slice_hash == SliceHash::kBalanced && !is_power_of_two(config.slices())),
      hash_bits_(hash_bits(config)),
      polynomial_(hash_bits_) {}

unsigned ChannelMap::slice_of(unsigned index) const {
  if (order_ == SliceOrder::kL2Banks) return index;
  return index % channels() * l2_banks() + index / channels();
}

unsigned ChannelMap::index_of(unsigned slice) const {
  if (order_ == SliceOrder::kL2Banks) return slice;
  return slice % l2_banks() * channels() + slice / l2_banks();
}

std::uint64_t ChannelMap::hash_of(std::uint64_t upper) const {
  const std::uint64_t hashed = upper >> hash_shift_;
  switch (hash_kind_) {
    case SliceHash::kNone:
      return 0;
    case SliceHash::kXor:
      return hashed & ((std::uint64_t{1} << hash_bits_) - 1);
    case SliceHash::kPolynomial:
    case SliceHash::kBalanced:
      return polynomial_.remainder(hashed << hash_bits_);
  }
  return 0;
}

// Uniform below the number of slices.
std::uint64_t ChannelMap::displacement_of(std::uint64_t upper) const {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio, odd
  return ((upper >> hash_shift_) * kGolden >> 32) * slices_.divisor() >> 32;
}

std::uint64_t ChannelMap::mixed(std::uint64_t slice, std::uint64_t upper) const {
  if (displaced_) return slices_.remainder(slice + displacement_of(upper));
  return slice ^ hash_of(upper);
}

std::uint64_t ChannelMap::unmixed(std::uint64_t mixed, std::uint64_t upper) const {
  if (displaced_) return slices_.remainder(mixed + slices_.divisor() - displacement_of(upper));
  return mixed ^ hash_of(upper);
}

ChannelMap::Route ChannelMap::mixed_route(std::uint64_t address) const {
  const std::uint64_t chunk = chunk_.quotient(address);
  const std::uint64_t upper = slices_.quotient(chunk);
  const std::uint64_t hashed = mixed(slice_of(static_cast<unsigned>(slices_.remainder(chunk))), upper);
  const std::uint64_t wraps = slices_.quotient(hashed);
  Route route;
  route.port = static_cast<unsigned>(slices_.remainder(hashed));
  route.channel = static_cast<unsigned>(l2_banks_.quotient(route.port));
  route.l2_bank = static_cast<unsigned>(l2_banks_.remainder(route.port));
  route.offset = upper * chunk_.divisor() + chunk_.remainder(address) + wraps * kWrapped;
  return route;
}

// The number of a chunk within its channel.
std::uint64_t ChannelMap::chunk_of_channel(std::uint64_t chunk) const {
  if (plain_) return channels_.quotient(chunk);
  const unsigned slice = slice_of(static_cast<unsigned>(slices_.remainder(chunk)));
  return slices_.quotient(chunk) * l2_banks_.divisor() + l2_banks_.remainder(slice);
}

ChannelMap::Route ChannelMap::route(std::uint64_t address) const {
  if (!plain_) return mixed_route(address);
  const std::uint64_t chunk = chunk_.quotient(address);
  const std::uint64_t k = channels_.quotient(chunk);
  Route route;
  route.channel = static_cast<unsigned>(chunk - k * channels_.divisor());
  route.l2_bank = static_cast<unsigned>(l2_banks_.remainder(k));
  route.port = route.channel * l2_banks() + route.l2_bank;
  route.offset = l2_banks_.quotient(k) * chunk_.divisor() + chunk_.remainder(address);
  return route;
}

ChannelMap::Place ChannelMap::place(std::uint64_t address) const {
  const std::uint64_t k = chunk_of_channel(chunk_.quotient(address));
  const std::uint64_t part = alternating_.quotient(k) * chunk_.divisor() + chunk_.remainder(address);
  const std::uint64_t block = block_.quotient(part);
  const std::uint64_t inner = turns_.quotient(block) * block_.divisor() + block_.remainder(part);
  Place place;
  place.row = row_.quotient(inner);
  place.column = row_.remainder(inner);
  place.bank =
      static_cast<unsigned>(turns_.remainder(block) * alternating_.divisor() + alternating_.remainder(k));
  if (bank_xor_) place.bank ^= static_cast<unsigned>(banks_.remainder(place.row));
  return place;
}

std::uint64_t ChannelMap::address_of(unsigned channel, unsigned l2_bank, std::uint64_t offset) const {
  if (!plain_) {
    const std::uint64_t wraps = offset / kWrapped, inner = offset % kWrapped;
    const std::uint64_t upper = chunk_.quotient(inner);
    const std::uint64_t hashed = channel * l2_banks_.divisor() + l2_bank + wraps * slices_.divisor();
    const auto slice = static_cast<unsigned>(unmixed(hashed, upper));
    return (upper * slices_.divisor() + index_of(slice)) * chunk_.divisor() + chunk_.remainder(inner);
  }
  const std::uint64_t k = chunk_.quotient(offset) * l2_banks_.divisor() + l2_bank;
  return (k * channels_.divisor() + channel) * chunk_.divisor() + chunk_.remainder(offset);
}

}  // namespace weft::memory
