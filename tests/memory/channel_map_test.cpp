#include "memory/channel_map.h"

#include <gtest/gtest.h>

#include <algorithm>
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

ChannelMapConfig hashed(std::uint64_t channels, std::uint64_t l2_banks, SliceHash hash, SliceOrder order,
                        std::uint64_t shift = 0) {
  ChannelMapConfig config;
  config.channels = channels;
  config.l2_banks = l2_banks;
  config.slice_hash = hash;
  config.slice_order = order;
  config.slice_hash_shift = shift;
  config.interleave_bytes = 128;
  config.check("/memory");
  return config;
}

std::vector<ChannelMapConfig> hashed_maps() {
  return {hashed(16, 2, SliceHash::kPolynomial, SliceOrder::kL2Banks, 1),
          hashed(32, 2, SliceHash::kPolynomial, SliceOrder::kChannels),
          hashed(12, 2, SliceHash::kPolynomial, SliceOrder::kL2Banks),
          hashed(40, 2, SliceHash::kPolynomial, SliceOrder::kL2Banks),
          hashed(48, 2, SliceHash::kXor, SliceOrder::kChannels),
          hashed(8, 1, SliceHash::kXor, SliceOrder::kChannels),
          hashed(1, 4, SliceHash::kPolynomial, SliceOrder::kChannels),
          hashed(94, 1, SliceHash::kBalanced, SliceOrder::kChannels),
          hashed(40, 2, SliceHash::kBalanced, SliceOrder::kChannels, 1),
          hashed(5, 3, SliceHash::kBalanced, SliceOrder::kL2Banks),
          hashed(16, 2, SliceHash::kBalanced, SliceOrder::kL2Banks, 1),
          hashed(40, 2, SliceHash::kNone, SliceOrder::kL2Banks),
          hashed(5, 3, SliceHash::kNone, SliceOrder::kL2Banks)};
}

TEST(ChannelMap, HashedRoutesHaveAnInverse) {
  for (const ChannelMapConfig& config : hashed_maps()) {
    const ChannelMap map(config);
    std::mt19937_64 random(3);
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t address = random() >> 28;
      const ChannelMap::Route route = map.route(address);
      ASSERT_LT(route.channel, map.channels());
      ASSERT_LT(route.l2_bank, map.l2_banks());
      EXPECT_EQ(route.port, route.channel * map.l2_banks() + route.l2_bank);
      EXPECT_EQ(map.address_of(route.channel, route.l2_bank, route.offset), address);
    }
  }
}

// Each slice gets its share of random addresses, of consecutive ones, and of strides that are powers of two.
// A hash that is taken modulo the slices loads some of them twice as much.
TEST(ChannelMap, HashesSpreadEvenly) {
  for (const ChannelMapConfig& config : hashed_maps()) {
    if (config.slice_hash != SliceHash::kPolynomial) continue;
    const ChannelMap map(config);
    const bool exact = (map.ports() & (map.ports() - 1)) == 0;
    const std::uint64_t count = map.ports() * 1000;
    std::mt19937_64 random(9);
    for (unsigned stride = 0; stride < 14; ++stride) {
      std::vector<std::uint64_t> load(map.ports());
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t chunk = stride == 0 ? random() >> 36 : i << (stride - 1);
        ++load[map.route(chunk * map.chunk_bytes()).port];
      }
      const auto [least, most] = std::minmax_element(load.begin(), load.end());
      EXPECT_GT(*least, exact ? 800u : 400u) << map.ports() << " slices, stride 2^" << stride;
      EXPECT_LT(*most, exact ? 1200u : 2300u) << map.ports() << " slices, stride 2^" << stride;
    }
  }
}

// The chunks of the balanced hash that go to the busiest slice, and to the least busy one, over their mean.
// There are 1,000 chunks per slice, from the chunk `first` on.
std::pair<double, double> extremes(const ChannelMap& map, std::uint64_t stride, std::uint64_t first) {
  constexpr std::uint64_t kMean = 1000;
  std::vector<std::uint64_t> load(map.ports());
  for (std::uint64_t i = 0; i < kMean * map.ports(); ++i)
    ++load[map.route((first + i * stride) * map.chunk_bytes()).port];
  const auto [least, most] = std::minmax_element(load.begin(), load.end());
  return {static_cast<double>(*least) / kMean, static_cast<double>(*most) / kMean};
}

// Powers of two, all slices, and all slices squared, where the displacement of prime displacement hashing
// repeats.
TEST(ChannelMap, BalancedHashSpreadsEvenlyOverAnyNumberOfSlices) {
  for (const unsigned slices : {3u, 12u, 20u, 24u, 40u, 48u, 80u, 94u, 96u, 127u}) {
    const ChannelMap map(hashed(slices, 1, SliceHash::kBalanced, SliceOrder::kChannels));
    std::vector<std::uint64_t> strides{slices, 2 * slices, slices * slices};
    for (unsigned bit = 0; bit < 18; ++bit) strides.push_back(std::uint64_t{1} << bit);
    for (const std::uint64_t stride : strides) {
      const auto [least, most] = extremes(map, stride, 12'345);
      EXPECT_GT(least, stride == 1 ? 0.998 : 0.85) << slices << " slices, stride " << stride;
      EXPECT_LT(most, stride == 1 ? 1.002 : 1.15) << slices << " slices, stride " << stride;
    }
  }
}

TEST(ChannelMap, BalancedHashSendsEachRunToAllSlices) {
  for (const unsigned slices : {6u, 48u, 80u, 94u, 96u}) {
    const ChannelMap map(hashed(slices, 1, SliceHash::kBalanced, SliceOrder::kChannels));
    for (std::uint64_t run = 0; run < 2000; ++run) {
      std::set<unsigned> found;
      for (std::uint64_t i = 0; i < slices; ++i)
        found.insert(map.route((run * slices + i) * map.chunk_bytes()).port);
      EXPECT_EQ(found.size(), slices) << "run " << run;
    }
  }
}

TEST(ChannelMap, BalancedHashIsThePolynomialOneWithAPowerOfTwoOfSlices) {
  const ChannelMap balanced(hashed(16, 2, SliceHash::kBalanced, SliceOrder::kL2Banks, 1)),
      polynomial(hashed(16, 2, SliceHash::kPolynomial, SliceOrder::kL2Banks, 1));
  for (std::uint64_t address = 0; address < 1u << 24; address += 96)
    EXPECT_EQ(balanced.route(address).port, polynomial.route(address).port);
}

// (chunk + floor(94 * fraction(floor(chunk / 94) / 1.6180339887...))) mod 94, by hand.
TEST(ChannelMap, BalancedHashIsThatOfTheGoldenRatio) {
  const ChannelMap map(hashed(94, 1, SliceHash::kBalanced, SliceOrder::kChannels));
  const std::pair<std::uint64_t, unsigned> by_hand[] = {
      {0, 0}, {93, 93}, {94, 58}, {95, 59}, {188, 22}, {282, 80}, {94u * 10, 16}, {94u * 1000 + 5, 8}};
  for (const auto& [chunk, slice] : by_hand) EXPECT_EQ(map.route(chunk * 128).port, slice) << chunk;
}

// The same strides without the hash: a stride of all slices is all one slice's.
TEST(ChannelMap, WithoutAHashPowersOfTwoMeet) {
  const ChannelMap map(hashed(16, 2, SliceHash::kNone, SliceOrder::kL2Banks));
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(map.route(i * 32 * 128).port, 0u);
}

// GPGPU-Sim 4.2 (addrdec.cc, hashing.cc): RTX 3070 has {a[11:8], a[7]} with a >> 13, QV100 {a[12:8], a[13]}
// with a >> 14, RTX 2060 (a >> 8) mod 12 and a[7] with (a >> 8) / 12, modulo 24. Its
// equations leave out upper bits from the 15th (32 places) or 19th (64 places) on, which these addresses
// lack.
TEST(ChannelMap, SlicesAreThoseOfGpgpuSim) {
  ChannelMapConfig volta = hashed(32, 2, SliceHash::kPolynomial, SliceOrder::kChannels);
  volta.interleave_bytes = 256;
  const ChannelMap rtx3070(hashed(16, 2, SliceHash::kPolynomial, SliceOrder::kL2Banks, 1)), qv100(volta),
      rtx2060(hashed(12, 2, SliceHash::kPolynomial, SliceOrder::kL2Banks));
  const std::tuple<std::uint64_t, unsigned, unsigned, unsigned> printed[] = {
      {0x1234d80, 1, 20, 2}, {0x2abcde0, 5, 44, 0}, {0x4fedc80, 24, 10, 20}};
  for (const auto& [address, of_3070, of_qv100, of_2060] : printed) {
    EXPECT_EQ(rtx3070.route(address).port, of_3070);
    EXPECT_EQ(qv100.route(address).port, of_qv100);
    EXPECT_EQ(rtx2060.route(address).port, of_2060);
  }
}

// The place in the DRAM has the L2 bank before the hash; with a power of two of channels, no two chunks of a
// channel share one.
TEST(ChannelMap, HashedPlacesAreDistinct) {
  ChannelMapConfig config = hashed(16, 2, SliceHash::kPolynomial, SliceOrder::kL2Banks, 1);
  config.alternating_banks = 2;
  config.bank_interleave_bytes = 512;
  const ChannelMap map(config);
  std::set<std::tuple<unsigned, unsigned, std::uint64_t, std::uint64_t>> places;
  for (std::uint64_t chunk = 0; chunk < 20'000; ++chunk) {
    const ChannelMap::Place place = map.place(chunk * 128);
    EXPECT_EQ(place.bank % 2, chunk % 2) << "a[7] is the lowest bit of the bank";
    EXPECT_TRUE(places.insert({map.route(chunk * 128).channel, place.bank, place.row, place.column}).second);
  }
}

TEST(ChannelMap, BalancedPlacesAreDistinct) {
  for (const unsigned l2_banks : {1u, 2u, 3u}) {
    const ChannelMap map(hashed(10, l2_banks, SliceHash::kBalanced, SliceOrder::kChannels));
    std::set<std::tuple<unsigned, unsigned, std::uint64_t, std::uint64_t>> places;
    for (std::uint64_t chunk = 0; chunk < 20'000; ++chunk) {
      const ChannelMap::Place place = map.place(chunk * 128);
      EXPECT_TRUE(
          places.insert({map.route(chunk * 128).channel, place.bank, place.row, place.column}).second);
    }
  }
}

// Consecutive chunks go round the L2 banks of a channel, then to the next channel.
TEST(ChannelMap, L2BanksMayGoFirst) {
  ChannelMapConfig config = fermi();
  config.slice_order = SliceOrder::kL2Banks;
  const ChannelMap map(config);
  for (unsigned chunk = 0; chunk < 36; ++chunk) {
    const ChannelMap::Route route = map.route(256u * chunk + 9);
    EXPECT_EQ(route.l2_bank, chunk % 2);
    EXPECT_EQ(route.channel, chunk / 2 % 6);
    EXPECT_EQ(route.offset, chunk / 12 * 256u + 9);
    EXPECT_EQ(map.index_of(route.port), chunk % 12);
    EXPECT_EQ(map.slice_of(chunk % 12), route.port);
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
  refused([](ChannelMapConfig& c) { c.channels = 65; });
  refused([](ChannelMapConfig& c) { c.slice_hash = SliceHash::kXor, c.l2_banks = 3; });
  refused([](ChannelMapConfig& c) { c.slice_hash = SliceHash::kPolynomial, c.l2_banks = c.channels = 1; });
  refused([](ChannelMapConfig& c) { c.alternating_banks = 3; });
  refused([](ChannelMapConfig& c) { c.alternating_banks = 32; });
}

}  // namespace
}  // namespace weft::memory
