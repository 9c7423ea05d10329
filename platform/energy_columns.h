// The energy of parts of a run: the counters of events as columns of tables, and what a row of them takes.
//
//   EnergyColumns energy(root, config);                  // sm.observe.events is on
//   statistics::Columns columns = energy.of_sm(sm);      // the same for each SM, in the order of the events
//   energy.price();                                      // now: tables of schemes may grow until the end
//   energy.picojoules_of_sm(values)                      // of so many events of each kind
#ifndef WEFT_PLATFORM_ENERGY_COLUMNS_H
#define WEFT_PLATFORM_ENERGY_COLUMNS_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/statistics_table.h"
#include "energy/event_energy.h"
#include "weft/platform/gpu_config.h"

namespace weft {

class EnergyColumns {
 public:
  using ByComponent = std::array<double, energy::kComponents>;  // pJ

  EnergyColumns(const statistics::Group& root, const GpuConfig& config);

  // Named "event_" and as in stats.json. Those of the memory side and the chip have no cycles among them.
  statistics::Columns of_sm(const statistics::Group& sm) const;
  statistics::Columns of_chip() const;
  // Names of the events of which there is one in each core cycle of a launch, as columns.
  std::vector<std::string> of_cycles() const;

  // Finds what an event costs by now.
  void price();
  double picojoules_of_sm(const std::uint64_t* values) const;
  double picojoules_of_sm(const statistics::Columns& columns) const;  // of all by now
  // Adds what an SM's events, or those of the chip in so many cycles of launches, take.
  void add_sm(const std::uint64_t* values, ByComponent& sum) const;
  void add_chip(const std::uint64_t* values, std::uint64_t cycles, ByComponent& sum) const;
  double core_mhz() const { return machine_.core_mhz; }

 private:
  struct Priced {
    energy::Component component;
    double picojoules;
  };

  const statistics::Group& root_;
  const energy::Machine machine_;
  const energy::Technology technology_;
  energy::Events events_;
  std::vector<Priced> sm_, chip_, cycle_;
};

double total(const EnergyColumns::ByComponent& picojoules);

}  // namespace weft

#endif
