#include "memory/channel_map.h"

#include "common/bits.h"
#include "common/config_origins.h"
#include "weft/common/error.h"

namespace weft::memory {
namespace {

void need_power_of_two(const std::string& where, std::uint64_t value) {
  if (!is_power_of_two(value)) throw InputError(where, std::to_string(value) + " is not a power of two");
}

}  // namespace

void ChannelMapConfig::describe(config::Visitor& v) {
  v.integer("channels", channels, {1, 64}, "channels", "memory channels; need not be a power of two");
  v.integer("interleave_bytes", interleave_bytes, {32, 1u << 20}, "bytes",
            "consecutive bytes on one channel and L2 bank; a power of two");
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
  if (channels * l2_banks > 64) {
    throw InputError(where + "/l2_banks",
                     std::to_string(channels * l2_banks) +
                         " L2 banks in total (channels x l2_banks); allowed: at most 64");
  }
}

ChannelMap::ChannelMap(const ChannelMapConfig& config)
    : chunk_(config.interleave_bytes),
      channels_(config.channels),
      l2_banks_(config.l2_banks),
      block_(config.bank_interleave_bytes),
      banks_(config.banks),
      alternating_(config.alternating_banks),
      turns_(config.banks / config.alternating_banks),
      row_(config.row_bytes),
      bank_xor_(config.bank_xor) {}

ChannelMap::Route ChannelMap::route(std::uint64_t address) const {
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
  const std::uint64_t k = channels_.quotient(chunk_.quotient(address));
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
  const std::uint64_t k = chunk_.quotient(offset) * l2_banks_.divisor() + l2_bank;
  return (k * channels_.divisor() + channel) * chunk_.divisor() + chunk_.remainder(offset);
}

}  // namespace weft::memory
