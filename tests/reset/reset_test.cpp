// Reset equals fresh construction, module by module (reset_property.h says how it is shown).
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cache/mshr_table.h"
#include "cache/tag_array.h"
#include "crossbar/crossbar.h"
#include "dispatch/dispatcher.h"
#include "dram/dram_channel.h"
#include "dram/fr_fcfs.h"
#include "l2/l2_bank.h"
#include "reset/players.h"
#include "reset/reset_property.h"
#include "system_port/system_port.h"

namespace weft::test {
namespace {

constexpr std::uint64_t kBytes = 64u << 10;

memory::ChannelMapConfig chunks_over(unsigned channels) {
  memory::ChannelMapConfig config;
  config.channels = channels;
  return config;
}

// Within a chunk of the map, and few lines, so that they meet.
Access choose(std::mt19937& random, bool atomics) {
  Access access;
  access.bytes = 32u << random() % 3;
  access.address = random() % (kBytes / 512) * 512 + random() % (256 / access.bytes) * access.bytes;
  switch (random() % (atomics ? 5 : 4)) {
    case 0:
    case 1:
      break;
    case 2:
    case 3:
      access.command = tlm::TLM_WRITE_COMMAND;
      access.kind = AccessKind::kWrite;
      break;
    default:
      access.command = tlm::TLM_WRITE_COMMAND;
      access.kind = AccessKind::kAtomic;
  }
  return access;
}

// A module between players and memories.
class Bench {
 public:
  explicit Bench(const std::string& prefix)
      : prefix_(prefix), domain(named("clock").c_str(), 1000), image(kBytes) {}
  virtual ~Bench() = default;

  void play(std::uint32_t seed) {
    for (auto& player : players) player->play(seed++);
    for (auto& memory : memories) memory->play(seed++);
  }
  void reset() {
    domain.reset();
    for (auto& memory : memories) memory->reset();
    reset_module();
    for (auto& player : players) player->reset();
    registry.reset();
  }
  std::string record() const {
    std::string text;
    for (const auto& player : players) text += player->record() + "\n";
    return text + registry.sample().dump(1);
  }

 protected:
  virtual void reset_module() = 0;
  std::string named(const std::string& what) const { return prefix_ + "_" + what; }
  Player& add_player(bool atomics = true) {
    const std::string name = named("player" + std::to_string(players.size()));
    players.push_back(
        std::make_unique<Player>(name.c_str(), domain, image.data(),
                                 [atomics](std::mt19937& random) { return choose(random, atomics); }));
    return *players.back();
  }
  Memory& add_memory() {
    const std::string name = named("memory" + std::to_string(memories.size()));
    memories.push_back(std::make_unique<Memory>(name.c_str(), domain, &image));
    return *memories.back();
  }
  const std::string prefix_;
  ClockDomain domain;
  std::vector<unsigned char> image;
  statistics::Group registry;
  std::vector<std::unique_ptr<Player>> players;
  std::vector<std::unique_ptr<Memory>> memories;
};

struct CrossbarBench final : Bench {
  explicit CrossbarBench(const std::string& prefix, const crossbar::Config& config = small())
      : Bench(prefix), map(chunks_over(2)), crossbar(named("module").c_str(), config, domain, map, 3, 2) {
    crossbar.bind(registry.group("crossbar"));
    for (auto& socket : crossbar.sm_sockets) add_player().socket.bind(socket);
    for (auto& socket : crossbar.memory_sockets) socket.bind(add_memory().socket);
  }
  static crossbar::Config small() {
    crossbar::Config config;
    config.input_queue = 2;
    config.output_queue = 1;
    config.sms_per_interface = 2;
    return config;
  }
  void reset_module() override { crossbar.reset(); }
  memory::ChannelMap map;
  crossbar::Crossbar crossbar;
};

TEST(Reset, Crossbar) {
  CrossbarBench fresh("fresh"), used("used");
  expect_reset_like_new(fresh, used);
}

TEST(Reset, CrossbarWithoutAcknowledgements) {
  crossbar::Config config = CrossbarBench::small();
  config.read_reply_header = false;
  config.write_acknowledgements = false;
  config.input_speedup = 2;
  CrossbarBench fresh("fresh", config), used("used", config);
  expect_reset_like_new(fresh, used);
}

struct L2Bench final : Bench {
  explicit L2Bench(const std::string& prefix, std::uint64_t sector_bytes = 0)
      : Bench(prefix),
        map(chunks_over(1)),
        bank(named("module").c_str(), config(sector_bytes), domain, map, 0, 0) {
    bank.bind(registry.group("l2"));
    add_player().socket.bind(bank.target);
    bank.memory.bind(add_memory().socket);
  }
  static l2::Config config(std::uint64_t sector_bytes) {
    l2::Config config;
    config.sector_bytes = sector_bytes;
    config.tags.sets = 8;
    config.tags.ways = 2;
    config.mshrs = {4, 2};
    config.latency = 12;
    config.input_queue = 2;
    config.miss_queue = sector_bytes == 0 ? 2 : 3;
    config.response_queue = 2;
    config.write_back_buffers = sector_bytes == 0 ? 1 : 2;
    return config;
  }
  void reset_module() override { bank.reset(); }
  memory::ChannelMap map;
  l2::L2Bank bank;
};

TEST(Reset, L2Bank) {
  L2Bench fresh("fresh"), used("used");
  expect_reset_like_new(fresh, used);
}

TEST(Reset, L2BankWithSectors) {
  L2Bench fresh("fresh", 32), used("used", 32);
  expect_reset_like_new(fresh, used);
}

struct DramBench final : Bench {
  DramBench(const std::string& prefix, const std::string& order)
      : Bench(prefix),
        map(chunks_over(1)),
        memory(kBytes),
        channel(named("module").c_str(), config(order), domain, memory, map, 0, 2) {
    channel.bind(registry.group("dram"));
    for (auto& socket : channel.sockets) add_player().socket.bind(socket);
  }
  static dram::ChannelConfig config(const std::string& order) {
    dram::ChannelConfig config;
    config.scheduler.order.name = order;
    config.scheduler.queue_size = 4;
    config.scheduler.order.own<dram::FrFcfsOptions>().row_hit_limit = 3;
    config.scheduler.timing.refi = 300;
    config.extra_latency = 3;
    config.response_queue = 2;
    return config;
  }
  void reset_module() override { channel.reset(); }
  memory::ChannelMap map;
  memory::MemoryImage memory;
  dram::DramChannel channel;
};

TEST(Reset, DramChannel) {
  DramBench fresh("fresh", "fr_fcfs"), used("used", "fr_fcfs");
  expect_reset_like_new(fresh, used);
}

TEST(Reset, DramChannelInOrder) {
  DramBench fresh("fresh", "fcfs"), used("used", "fcfs");
  expect_reset_like_new(fresh, used);
}

// The outside is not reset: the port drops what its own side had, and what the outside still answers.
struct SystemPortBench final : Bench {
  explicit SystemPortBench(const std::string& prefix)
      : Bench(prefix), port(named("module").c_str(), config(), domain, 2) {
    port.bind(registry.group("port"));
    for (auto& socket : port.targets) add_player().socket.bind(socket);
    port.system.bind(outside.socket);
  }
  static system_port::Config config() {
    system_port::Config config;
    config.queue = 2;
    config.outstanding = 3;
    return config;
  }
  void play(std::uint32_t seed) {
    Bench::play(seed);
    outside.play(seed + 7);
  }
  void reset() {
    Bench::reset();
    while (!outside.idle()) run_cycles(1);
    run_cycles(2);
    registry.reset();
  }
  void reset_module() override { port.reset(); }
  system_port::SystemPort port;
  Memory outside{named("outside").c_str(), domain, nullptr};
};

TEST(Reset, SystemPort) {
  SystemPortBench fresh("fresh"), used("used");
  expect_reset_like_new(fresh, used);
}

// Launches of random grids on SMs whose blocks take random times.
struct DispatcherBench final : Clocked {
  struct Sm final : dispatch::BlockTarget {
    bool can_launch() const override { return ends.size() < 2; }
    void launch_block(const dispatch::Dim3& index) override {
      bench->note("block", index[0] + 10 * index[1]);
      ends.push_back(bench->domain.current_edge() + 1 + bench->random() % 50);
    }
    bool drained() const override { return ends.empty(); }
    DispatcherBench* bench = nullptr;
    std::vector<Cycle> ends;
  };

  explicit DispatcherBench(const std::string& prefix)
      : domain((prefix + "_clock").c_str(), 1000), index(domain.add(*this)), sms(3) {
    std::vector<dispatch::BlockTarget*> targets;
    for (Sm& sm : sms) {
      sm.bench = this;
      targets.push_back(&sm);
    }
    dispatcher.emplace(domain, targets);
    dispatcher->set_hooks(
        {[this] { return waiting != 0; },
         [this](Cycle) {
           --waiting;
           const auto blocks = [this](unsigned most) {
             return static_cast<std::uint32_t>(1 + random() % most);
           };
           dispatcher->start(number, {blocks(9), blocks(3), 1});
           note("begin", number++);
         },
         [this](unsigned sm, std::uint64_t launch, Cycle) { note("assign", 100 * launch + sm); },
         [this](std::uint64_t launch, Cycle) {
           note("finished", launch);
           note("blocks", 1000 * dispatcher->blocks() + dispatcher->blocks_done());
         }});
  }
  Cycle step(Cycle now) override {
    if (!playing) return kNever;
    for (unsigned sm = 0; sm < sms.size(); ++sm) {
      std::vector<Cycle>& ends = sms[sm].ends;
      for (std::size_t i = 0; i < ends.size();) {
        if (ends[i] > now) {
          ++i;
          continue;
        }
        ends.erase(ends.begin() + static_cast<std::ptrdiff_t>(i));
        dispatcher->block_retired(sm);
      }
    }
    if (random() % 40 == 0 && waiting < 3) {
      ++waiting;
      dispatcher->poke();
    }
    return now + 1;
  }
  void play(std::uint32_t seed) {
    random.seed(seed);
    log.clear();
    begun = domain.current_edge();
    playing = true;
    domain.wake(index);
  }
  void reset() {
    domain.reset();
    dispatcher->reset();
    for (Sm& sm : sms) sm.ends.clear();
    waiting = 0;
    number = 0;
    playing = false;
  }
  std::string record() const { return log; }
  void note(const char* what, std::uint64_t value) {
    log += std::to_string(domain.current_edge() - begun) + " " + what + " " + std::to_string(value) + "\n";
  }

  ClockDomain domain;
  const std::size_t index;
  std::vector<Sm> sms;
  std::optional<dispatch::Dispatcher> dispatcher;
  std::mt19937 random;
  unsigned waiting = 0;
  std::uint64_t number = 0;
  Cycle begun = 0;
  bool playing = false;
  std::string log;
};

TEST(Reset, Dispatcher) {
  DispatcherBench fresh("fresh"), used("used");
  expect_reset_like_new(fresh, used);
}

// The tables of a cache, without a clock: `operations` random ones, and what each gave.
std::string use(cache::TagArray& tags, std::uint32_t seed, unsigned operations) {
  std::mt19937 random(seed);
  std::string log;
  for (unsigned i = 0; i < operations; ++i) {
    const cache::Line line = random() % 40;
    log += std::to_string(static_cast<int>(tags.access(line)));
    if (tags.find(line) == cache::LineState::kInvalid && tags.can_reserve(line)) {
      const auto victim = tags.reserve(line);
      log += " " + std::to_string(victim.line) + (victim.dirty ? "d" : victim.evicted ? "c" : "-");
    } else if (random() % 2 == 0) {
      log += tags.fill(line) ? " f" : tags.mark_dirty(line) ? " m" : " -";
    } else if (random() % 8 == 0) {
      log += " i" + std::to_string(static_cast<int>(tags.invalidate(line)));
    }
    log += "\n";
  }
  return log;
}

std::string use(cache::MshrTable& mshrs, std::uint32_t seed, unsigned operations) {
  std::mt19937 random(seed);
  std::string log;
  std::vector<cache::Line> open;
  for (unsigned i = 0; i < operations; ++i) {
    const cache::Line line = random() % 12;
    if (random() % 3 != 0) {
      const auto outcome = mshrs.add(line, i);
      log += std::to_string(static_cast<int>(outcome)) + " " + std::to_string(mshrs.in_use()) + "\n";
      if (outcome == cache::MshrOutcome::kAllocated) {
        open.push_back(line);
        log += "entry " + std::to_string(mshrs.entry_of(line)) + "\n";
      }
    } else if (!open.empty()) {
      const std::size_t which = random() % open.size();
      mshrs.release(open[which], [&](std::uint32_t waiter) { log += std::to_string(waiter) + ","; });
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  return log;
}

template <class Table, class Config>
void expect_table_resets(const Config& config) {
  Table fresh(config), used(config);
  statistics::Group of_fresh, of_used;
  fresh.bind(of_fresh.group("table"));
  used.bind(of_used.group("table"));
  const std::string expected = use(fresh, 1, 300);
  EXPECT_TRUE(rc::check("reset equals construction", [&](std::uint32_t seed) {
    use(used, seed, *rc::gen::inRange(1u, 300u));
    used.reset();
    of_used.reset();
    RC_ASSERT(use(used, 1, 300) == expected);
    RC_ASSERT(of_used.sample() == of_fresh.sample());
    used.reset();
  }));
}

TEST(Reset, TagArray) {
  for (const char* replacement : {"lru", "fifo", "srrip"}) {
    cache::TagConfig config;
    config.sets = 3;
    config.ways = 4;
    config.replacement.name = replacement;
    expect_table_resets<cache::TagArray>(config);
  }
}

TEST(Reset, MshrTable) {
  expect_table_resets<cache::MshrTable>(cache::MshrConfig{6, 3});
}

}  // namespace
}  // namespace weft::test
