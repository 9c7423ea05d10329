#include "memory/channel_map.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "weft/common/error.h"

namespace weft::memory {
namespace {

ChannelMapConfig fermi() {
  ChannelMapConfig config;
  config.channels = 6;
  config.l2_banks = 2;
  return config;
}

TEST(ChannelMap, ConsecutiveChunksGoRoundChannelsThenL2Banks) {
  const ChannelMap map(fermi());
  for (unsigned chunk = 0; chunk < 24; ++chunk) {
    const ChannelMap::Route route = map.route(256u * chunk + 17);
    EXPECT_EQ(route.channel, chunk % 6);
    EXPECT_EQ(route.l2_bank, chunk / 6 % 2);
    EXPECT_EQ(route.port, route.channel * 2 + route.l2_bank);
    EXPECT_EQ(route.offset, chunk / 12 * 256u + 17);
  }
}

TEST(ChannelMap, RouteHasAnInverse) {
  ChannelMapConfig odd = fermi();
  odd.channels = 5;
  odd.l2_banks = 3;
  odd.interleave_bytes = 64;
  for (const ChannelMapConfig& config : {fermi(), odd, ChannelMapConfig{}}) {
    const ChannelMap map(config);
    std::mt19937_64 random(3);
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t address = random() >> 20;
      const ChannelMap::Route route = map.route(address);
      EXPECT_EQ(map.address_of(route.channel, route.l2_bank, route.offset), address);
    }
  }
}

// No two bytes of a channel share bank, row and column, and a channel's first bytes fill whole rows.
TEST(ChannelMap, PlacesAreDistinctAndDense) {
  for (const auto& [bank_xor, alternating] : {std::pair{false, 1u}, {true, 1u}, {false, 2u}, {true, 4u}}) {
    ChannelMapConfig config = fermi();
    config.bank_xor = bank_xor;
    config.alternating_banks = alternating;
    config.banks = 4;
    config.bank_interleave_bytes = 512;
    const ChannelMap map(config);
    std::set<std::tuple<unsigned, std::uint64_t, std::uint64_t>> places;
    const std::uint64_t wanted = 3 * 4 * 2048;  // three rows of each bank
    std::uint64_t found = 0;
    std::uint64_t rows = 0;
    for (std::uint64_t address = 0; found < wanted; address += 32) {
      if (map.route(address).channel != 1) continue;
      found += 32;
      const ChannelMap::Place place = map.place(address);
      EXPECT_LT(place.bank, 4u);
      EXPECT_LT(place.column, 2048u);
      rows = std::max(rows, place.row + 1);
      EXPECT_TRUE(places.insert({place.bank, place.row, place.column}).second);
    }
    EXPECT_EQ(rows, 3u);
  }
}

// Of a channel's chunks: even ones to bank 0, odd ones to bank 1, until a row of each is full; then banks 2
// and 3.
TEST(ChannelMap, AlternatingBanksTakeTurnsAtEveryChunk) {
  ChannelMapConfig config;
  config.channels = 1;
  config.row_bytes = config.bank_interleave_bytes = 4096;
  config.alternating_banks = 2;
  const ChannelMap map(config);
  for (std::uint64_t chunk = 0; chunk < 300; ++chunk) {
    const ChannelMap::Place place = map.place(chunk * 256 + 5);
    EXPECT_EQ(place.bank, chunk % 2 + chunk / 32 % 8 * 2);
    EXPECT_EQ(place.row, chunk / 256);
    EXPECT_EQ(place.column, chunk / 2 % 16 * 256 + 5);
  }
}

TEST(ChannelMap, AChunkStaysInOneRow) {
  const ChannelMap map(fermi());
  for (std::uint64_t chunk = 0; chunk < 5000; ++chunk) {
    const ChannelMap::Place first = map.place(chunk * 256);
    const ChannelMap::Place last = map.place(chunk * 256 + 255);
    EXPECT_EQ(first.row, last.row);
    EXPECT_EQ(first.bank, last.bank);
    EXPECT_EQ(first.column + 255, last.column);
  }
}

TEST(ChannelMap, KnowsWhatLiesInOneChunk) {
  const ChannelMap map(fermi());
  EXPECT_TRUE(map.within_chunk(256, 256));
  EXPECT_TRUE(map.within_chunk(511, 1));
  EXPECT_FALSE(map.within_chunk(511, 2));
  EXPECT_FALSE(map.within_chunk(0, 257));
  EXPECT_FALSE(map.within_chunk(0, 0));
}

TEST(ChannelMap, RefusesImpossibleGeometry) {
  const auto refused = [](auto change) {
    ChannelMapConfig config = fermi();
    change(config);
    EXPECT_THROW(config.check("/memory"), InputError);
  };
  EXPECT_NO_THROW(fermi().check("/memory"));
  refused([](ChannelMapConfig& c) { c.interleave_bytes = 192; });
  refused([](ChannelMapConfig& c) { c.row_bytes = 3000; });
  refused([](ChannelMapConfig& c) { c.bank_interleave_bytes = 128; });
  refused([](ChannelMapConfig& c) { c.bank_interleave_bytes = 4096; });
  refused([](ChannelMapConfig& c) { c.bank_xor = true, c.banks = 12; });
  refused([](ChannelMapConfig& c) { c.channels = 33; });
  refused([](ChannelMapConfig& c) { c.alternating_banks = 3; });
  refused([](ChannelMapConfig& c) { c.alternating_banks = 32; });
}

}  // namespace
}  // namespace weft::memory
