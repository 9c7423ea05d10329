// The DMA engine, on buses that answer in every way the base protocol allows.
#include <random>

#include "host/host_bench.h"

namespace weft::test {
namespace {

struct Bus {
  const char* name;
  TestMemory::Reply reply;
  host::Transport transport;
  std::size_t places;
};

std::ostream& operator<<(std::ostream& out, const Bus& bus) {
  return out << bus.name;
}

host::Config config_of(const Bus& bus) {
  host::Config config;
  config.dma_transport = bus.transport;
  return config;
}

class Dma : public ::testing::TestWithParam<Bus> {
 public:
  Dma() : bench(config_of(GetParam())) {
    bench.ram.reply = GetParam().reply;
    bench.ram.places = bench.device.places = GetParam().places;
  }
  HostBench bench;
};

INSTANTIATE_TEST_SUITE_P(
    Buses, Dma,
    ::testing::Values(Bus{"FourPhases", TestMemory::Reply::kCalls, host::Transport::kApproximate, 4},
                      Bus{"BackPressure", TestMemory::Reply::kCalls, host::Transport::kApproximate, 1},
                      Bus{"EarlyResponse", TestMemory::Reply::kEarlyResponse, host::Transport::kApproximate,
                          4},
                      Bus{"Completed", TestMemory::Reply::kCompleted, host::Transport::kApproximate, 4},
                      Bus{"Blocking", TestMemory::Reply::kCalls, host::Transport::kLoose, 4}),
    [](const auto& info) { return info.param.name; });

// Copies of all lengths and alignments between four places, many at once, against memcpy in the order of
// their ends: each writes where no other reads or writes.
TEST_P(Dma, RandomCopiesEqualMemcpy) {
  std::mt19937_64 random(3);
  for (auto* memory : {&bench.ram, &bench.device}) {
    for (auto& byte : memory->bytes) byte = static_cast<unsigned char>(random());
  }
  std::vector<unsigned char> ram = bench.ram.bytes, device = bench.device.bytes;
  unsigned ended = 0;
  constexpr unsigned kCopies = 200;
  ASSERT_TRUE(bench.cpu.run([&] {
    bench.open_window();
    for (unsigned i = 0; i < kCopies; ++i) {
      // Sources in the first half, copy i's destination in slot i of the second.
      const std::uint64_t bytes = 1 + random() % (i % 5 == 0 ? 2000 : 200);
      const std::uint64_t from = random() % (kRamBytes / 2 - bytes);
      const std::uint64_t to = kRamBytes / 2 + i * 2048 + random() % 48;
      const bool from_ram = random() % 2 != 0, to_ram = random() % 2 != 0;
      std::memcpy(&(to_ram ? ram : device)[to], &(from_ram ? ram : device)[from], bytes);
      bench.host.dma().copy({(from_ram ? kRam : kDevice) + from, (to_ram ? kRam : kDevice) + to, bytes,
                             [&](const host::DmaEngine::Outcome& outcome) {
                               EXPECT_TRUE(outcome.done);
                               ++ended;
                             }});
    }
    bench.wait_us(2000);
  }));
  EXPECT_EQ(ended, kCopies);
  EXPECT_TRUE(bench.host.dma().idle());
  EXPECT_TRUE(bench.ram.bytes == ram);
  EXPECT_TRUE(bench.device.bytes == device);
  bench.expect_quiet();
}

TEST_P(Dma, AnErrorEndsACopyAndNotTheNext) {
  bench.ram.bad_begin = kRam + 0x8000;
  bench.ram.bad_end = kRam + 0x8080;
  std::vector<std::uint64_t> failed;
  ASSERT_TRUE(bench.cpu.run([&] {
    bench.open_window();
    const auto copy = [&](std::uint64_t from, std::uint64_t to) {
      bench.host.dma().copy({from, to, 0x1000, [&](const host::DmaEngine::Outcome& outcome) {
                               failed.push_back(outcome.done ? 0 : outcome.failed_address);
                             }});
    };
    copy(kRam + 0x7800, kDevice);             // reads it
    copy(kDevice, kRam + 0x7C00);             // writes it
    copy(kRam + kRamBytes - 0x800, kDevice);  // leaves the window
    copy(kRam, kDevice + 0x8000);
    bench.wait_us(200);
  }));
  EXPECT_EQ(failed, (std::vector<std::uint64_t>{kRam + 0x8000, kRam + 0x8000, kRam + kRamBytes, 0}));
  EXPECT_EQ(std::memcmp(&bench.ram.bytes[0], &bench.device.bytes[0x8000], 0x1000), 0);
}

// Pieces made beforehand.
class Pieces final : public host::DmaPlan {
 public:
  explicit Pieces(std::vector<host::DmaPiece> pieces) : pieces_(std::move(pieces)) {}
  bool next(host::DmaPiece& piece, std::uint64_t most) override {
    EXPECT_EQ(most, 128u);
    EXPECT_TRUE(piece.reads.empty() && piece.writes.empty() && piece.moves.empty());
    if (next_ == pieces_.size()) return false;
    piece = pieces_[next_++];
    return true;
  }

 private:
  std::vector<host::DmaPiece> pieces_;
  std::size_t next_ = 0;
};

// Three runs are read, turned round, and written as two; then come fills of one run.
TEST_P(Dma, PiecesReorderWhatTheyRead) {
  std::mt19937_64 random(5);
  for (auto& byte : bench.ram.bytes) byte = static_cast<unsigned char>(random());
  std::vector<unsigned char> device = bench.device.bytes;
  const std::vector<unsigned char>& ram = bench.ram.bytes;
  std::vector<host::DmaPiece> pieces;
  constexpr unsigned kPieces = 60;
  for (unsigned i = 0; i < kPieces; ++i) {
    host::DmaPiece piece;
    const std::uint64_t to = i * 512 + random() % 64;
    if (i % 3 == 2) {
      piece.pattern = static_cast<std::uint32_t>(random());
      piece.writes = {{kDevice + to, 100}};
      for (unsigned k = 0; k < 100; ++k)
        device[to + k] = static_cast<unsigned char>(piece.pattern >> 8 * (k % 4));
    } else {
      const std::uint64_t a = random() % 1000, b = 2000 + random() % 1000, c = 4000 + random() % 1000;
      piece.reads = {{kRam + a, 20}, {kRam + b, 30}, {kRam + c, 40}};
      piece.moves = {{0, 70, 20}, {20, 40, 30}, {50, 0, 40}};
      piece.writes = {{kDevice + to, 60}, {kDevice + to + 100, 30}};
      std::vector<unsigned char> turned(ram.begin() + static_cast<std::ptrdiff_t>(c),
                                        ram.begin() + static_cast<std::ptrdiff_t>(c + 40));
      turned.insert(turned.end(), ram.begin() + static_cast<std::ptrdiff_t>(b),
                    ram.begin() + static_cast<std::ptrdiff_t>(b + 30));
      turned.insert(turned.end(), ram.begin() + static_cast<std::ptrdiff_t>(a),
                    ram.begin() + static_cast<std::ptrdiff_t>(a + 20));
      std::memcpy(&device[to], turned.data(), 60);
      std::memcpy(&device[to + 100], &turned[60], 30);
    }
    pieces.push_back(piece);
  }
  bool ended = false;
  ASSERT_TRUE(bench.cpu.run([&] {
    bench.open_window();
    bench.host.dma().run(std::make_unique<Pieces>(pieces), [&](const host::DmaEngine::Outcome& outcome) {
      EXPECT_TRUE(outcome.done);
      ended = true;
    });
    bench.wait_us(1000);
  }));
  EXPECT_TRUE(ended);
  EXPECT_TRUE(bench.host.dma().idle());
  EXPECT_TRUE(bench.device.bytes == device);
  bench.expect_quiet();
}

// The second run of the first piece cannot be read: its first one is not written, and no other piece's.
TEST_P(Dma, AnErrorEndsAPlan) {
  bench.ram.bad_begin = kRam + 0x8000;
  bench.ram.bad_end = kRam + 0x8080;
  std::vector<host::DmaPiece> pieces(40);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].reads = {{kRam + 0x100, 16}, {kRam + 0x8010, 16}};
    pieces[i].writes = {{kDevice + i * 64, 32}};
  }
  const std::vector<unsigned char> device = bench.device.bytes;
  std::uint64_t failed = 0;
  ASSERT_TRUE(bench.cpu.run([&] {
    bench.open_window();
    bench.host.dma().run(std::make_unique<Pieces>(pieces), [&](const host::DmaEngine::Outcome& outcome) {
      EXPECT_FALSE(outcome.done);
      failed = outcome.failed_address;
    });
    bench.wait_us(200);
  }));
  EXPECT_EQ(failed, kRam + 0x8010);
  EXPECT_TRUE(bench.host.dma().idle());
  EXPECT_TRUE(bench.device.bytes == device);
}

class DmaTime : public ::testing::Test {
 public:
  HostBench bench;
};

// Cycles of 1 ns, memories of 50 ns. Asked for at t, the engine begins at the first edge after t, the bus
// master sends the read one edge later; its response comes 50 ns after, is seen one edge later and answered
// by the write's request one edge later; its response comes 50 ns after, seen one edge later; the engine ends
// the copy at the edge after: t + 1 + 1 + 50 + 1 + 1 + 50 + 1 + 1 = t + 106 ns at most, and not before 104.
TEST_F(DmaTime, ALoneBurst) {
  sc_core::sc_time begun, ended;
  ASSERT_TRUE(bench.cpu.run([&] {
    bench.open_window();
    begun = sc_core::sc_time_stamp();
    bench.host.dma().copy({kRam, kDevice, 128, [&](const auto&) { ended = sc_core::sc_time_stamp(); }});
    bench.wait_us(1);
  }));
  const double nanoseconds = (ended - begun).to_seconds() * 1e9;
  EXPECT_NEAR(nanoseconds, 105, 1.1);
}

// Many bursts overlap: `outstanding` reads are under way in a memory with places for them, so n bursts take
// about n / slots round trips, not n.
TEST_F(DmaTime, BurstsOverlap) {
  bench.ram.places = bench.device.places = 64;
  sc_core::sc_time begun, ended;
  ASSERT_TRUE(bench.cpu.run([&] {
    bench.open_window();
    begun = sc_core::sc_time_stamp();
    bench.host.dma().copy({kRam, kDevice, 128 * 160, [&](const auto&) { ended = sc_core::sc_time_stamp(); }});
    bench.wait_us(20);
  }));
  const double nanoseconds = (ended - begun).to_seconds() * 1e9;
  // 160 bursts on 16 slots: 10 rounds of the 104 to 106 ns above, each slot waiting up to 15 ns for its turn.
  EXPECT_GT(nanoseconds, 10 * 104);
  EXPECT_LT(nanoseconds, 10 * (106 + 16));
  EXPECT_GE(bench.ram.most_open, 12u);
}

}  // namespace
}  // namespace weft::test
