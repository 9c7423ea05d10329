// Energy of a run: events that the simulation counted, times what one of each takes.
//
//   const Events events = Events::of(sample);                       // what there is in stats.json
//   const Prices prices(events, machine, technology);               // what each costs on this machine
//   const Energy energy = energy_of(sample, events, prices, machine);
//
// It is a sum over kinds of events, so it may be taken over any part of a run, and one price may be changed
// by itself. What is counted stands in event_energy_list.cpp, what it costs in event_energy_prices.cpp.
#ifndef WEFT_ENERGY_EVENT_ENERGY_H
#define WEFT_ENERGY_EVENT_ENERGY_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/statistics_sample.h"
#include "energy/event_energy_technology.h"
#include "weft/common/statistics.h"

namespace weft::energy {

// Where energy goes.
enum class Component : std::uint8_t {
  kLanes,         // operations of threads
  kRegisters,     // banks, crossbars, operand collectors
  kFrontEnd,      // fetch, instruction buffers, decode, schedulers
  kScheme,        // tables of warp formation
  kSharedMemory,  // banks
  kLoadStore,     // coalescer
  kL1,            // first-level caches but for that of instructions
  kNetwork,
  kL2,
  kDram,
  kClock,
  kLeakage,
  kCount
};
inline constexpr std::size_t kComponents = static_cast<std::size_t>(Component::kCount);
const char* name_of(Component component);

// A table of the scheme, as it says itself.
struct SchemeTable {
  std::string name;
  double rows = 0, row_bits = 0;
};

// What energies depend on, of a machine.
struct Machine {
  struct Cache {
    bool enabled = true;
    double bytes = 0, ways = 1, line_bytes = 128;
  };
  double core_mhz = 700;
  double chip_mhz = 700;  // of clusters, interconnect and L2
  double sms = 1, clusters = 1;
  // Of an SM.
  double lanes = 32, schedulers = 1;
  double register_bytes = 0, register_banks = 8;
  double scalar_bytes = 0;  // of a file of scalar registers; 0: they lie among the others
  double row_lanes = 32;    // lanes that run a warp's beat together
  bool lanes_apart = true;
  double fetch_bits = 128, buffer_bytes = 0;
  double shared_bytes = 0, shared_banks = 32, bank_bits = 32;
  bool unified_l1 = false;  // the lines of the data cache lie in the banks of shared memory
  double block_bytes = 128;
  bool stores_update = true;  // a line of the data cache that they hit
  Cache l1i, l1d, l1c, l1t;
  double l1d_fetch_bytes = 128;  // a line, or a sector of it
  // Of the memory side.
  double flit_bits = 256;
  double l2_banks = 0;  // 0: no L2
  Cache l2;             // a bank
  double l2_fetch_bytes = 128;
  double dram_devices = 0, row_kilobytes = 2;
};

// A kind of event: counters that add up, each named by the groups that lead to it.
struct Event {
  using Steps = std::vector<std::string>;
  std::string name;
  Component component = Component::kLanes;
  bool of_sm = true;  // its counters are below an SM, and found without that step
  std::vector<Steps> counters;
  std::size_t table = 0;  // kScheme: of Events::tables
};

// pJ of an event; `low` to `high` is what the figures leave open.
struct Price {
  double picojoules = 0, low = 0, high = 0;
};

struct Events {
  std::vector<Event> all;
  std::vector<SchemeTable> tables;

  // Of a tree in memory, which need not have run yet, or in a file. Empty unless sm.observe.events was on.
  static Events of(const statistics::Group& root);
  static Events of(const statistics::Sample& sample);
  bool empty() const { return all.empty(); }
};

// By Events::all.
std::vector<Price> prices_of(const Events& events, const Machine& machine, const Technology& technology);

// The counters of an event below a group: an SM, or the root.
statistics::Sum sum_of(const statistics::Group& group, const Event& event);
// The only event that no counter of a group has: core cycles in which a launch was active.
inline constexpr const char* kCycles = "cycles";
bool counts_cycles(const Event& event);

struct Energy {
  struct Part {
    std::string name;
    Component component = Component::kLanes;
    double count = 0;
    Price price;
    double joules() const { return count * price.picojoules * 1e-12; }
  };
  std::vector<Part> parts;
  double seconds = 0;

  double joules() const;
  double joules(Component component) const;
  double chip_joules() const { return joules() - joules(Component::kDram); }  // without the memory devices
  double joules_low() const;
  double joules_high() const;
  double watts() const { return seconds == 0 ? 0 : joules() / seconds; }
  double edp() const { return joules() * seconds; }  // J s
  double ed2p() const { return edp() * seconds; }    // J s^2
};

// Throws InputError if the sample has not the statistics that the energy is made of.
Energy energy_of(const statistics::Sample& sample, const Events& events, const std::vector<Price>& prices,
                 const Machine& machine);
nlohmann::ordered_json json_of(const Energy& energy, const Technology& technology);

}  // namespace weft::energy

#endif
