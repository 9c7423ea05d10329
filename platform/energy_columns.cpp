#include "platform/energy_columns.h"

#include <numeric>

#include "platform/energy_machine.h"

namespace weft {

EnergyColumns::EnergyColumns(const statistics::Group& root, const GpuConfig& config)
    : root_(root),
      machine_(machine_of(config)),
      technology_(technology_of(config.energy)),
      events_(energy::Events::of(root)) {
  price();
}

statistics::Columns EnergyColumns::of_sm(const statistics::Group& sm) const {
  statistics::Columns columns;
  for (const energy::Event& event : events_.all) {
    if (event.of_sm) columns.push_back({"event_" + event.name, energy::sum_of(sm, event)});
  }
  return columns;
}

statistics::Columns EnergyColumns::of_chip() const {
  statistics::Columns columns;
  for (const energy::Event& event : events_.all) {
    if (!event.of_sm && !energy::counts_cycles(event))
      columns.push_back({"event_" + event.name, energy::sum_of(root_, event)});
  }
  return columns;
}

std::vector<std::string> EnergyColumns::of_cycles() const {
  std::vector<std::string> names;
  for (const energy::Event& event : events_.all) {
    if (!event.of_sm && energy::counts_cycles(event)) names.push_back("event_" + event.name);
  }
  return names;
}

void EnergyColumns::price() {
  events_.tables = energy::Events::of(root_).tables;
  const std::vector<energy::Price> prices = energy::prices_of(events_, machine_, technology_);
  for (auto* part : {&sm_, &chip_, &cycle_}) part->clear();
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const energy::Event& event = events_.all[i];
    auto& part = event.of_sm ? sm_ : energy::counts_cycles(event) ? cycle_ : chip_;
    part.push_back({event.component, prices[i].picojoules});
  }
}

double EnergyColumns::picojoules_of_sm(const std::uint64_t* values) const {
  double sum = 0;
  for (const Priced& event : sm_) sum += event.picojoules * static_cast<double>(*values++);
  return sum;
}

double EnergyColumns::picojoules_of_sm(const statistics::Columns& columns) const {
  double sum = 0;
  for (std::size_t i = 0; i < sm_.size(); ++i)
    sum += sm_[i].picojoules * static_cast<double>(columns[i].sum.value());
  return sum;
}

void EnergyColumns::add_sm(const std::uint64_t* values, ByComponent& sum) const {
  for (const Priced& event : sm_)
    sum[static_cast<std::size_t>(event.component)] += event.picojoules * static_cast<double>(*values++);
}

void EnergyColumns::add_chip(const std::uint64_t* values, std::uint64_t cycles, ByComponent& sum) const {
  for (const Priced& event : chip_)
    sum[static_cast<std::size_t>(event.component)] += event.picojoules * static_cast<double>(*values++);
  for (const Priced& event : cycle_)
    sum[static_cast<std::size_t>(event.component)] += event.picojoules * static_cast<double>(cycles);
}

double total(const EnergyColumns::ByComponent& picojoules) {
  return std::accumulate(picojoules.begin(), picojoules.end(), 0.0);
}

}  // namespace weft
