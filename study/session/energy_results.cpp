#include "study/session/energy_results.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "platform/energy_machine.h"
#include "study/session/machine_area.h"
#include "study/terminal/table.h"
#include "weft/common/error.h"

namespace weft::study {

std::optional<energy::Energy> energy_of(const nlohmann::ordered_json& statistics, const GpuConfig& config,
                                        const energy::Technology& technology) {
  const statistics::Sample sample(statistics);
  const energy::Events events = energy::Events::of(sample);
  if (events.empty()) return std::nullopt;
  const energy::Machine machine = machine_of(config);
  return energy::energy_of(sample, events, energy::prices_of(events, machine, technology), machine);
}

namespace {

// "12.3 mJ"
std::string with_prefix(double value, const char* unit) {
  static constexpr std::pair<double, const char*> kPrefixes[] = {
      {1, " "}, {1e-3, " m"}, {1e-6, " u"}, {1e-9, " n"}, {1e-12, " p"}};
  std::ostringstream text;
  for (const auto& [scale, prefix] : kPrefixes) {
    if (value < scale && scale > 1e-12) continue;
    text << std::fixed << std::setprecision(3) << value / scale << prefix << unit;
    break;
  }
  return text.str();
}

}  // namespace

void write_energy(std::ostream& out, const energy::Energy& energy, const energy::Technology& technology,
                  const Paint& paint) {
  const double joules = energy.joules();
  std::ostringstream heading;
  heading << "energy (" << technology.name();
  if (technology.name() != std::to_string(std::lround(technology.node_nm())) + "nm")
    heading << " at " << technology.node_nm() << " nm";
  heading << ")";
  out << "\n" << paint.heading(heading.str()) << "\n";
  const auto line = [&](const char* name) -> std::ostream& { return out << label(name, 22, 2); };
  line("energy") << with_prefix(joules, "J") << " (" << with_prefix(energy.joules_low(), "J") << " to "
                 << with_prefix(energy.joules_high(), "J")
                 << " with the low and high figures), without memory devices "
                 << with_prefix(energy.chip_joules(), "J") << "\n";
  line("power") << with_prefix(energy.watts(), "W") << " over " << with_prefix(energy.seconds, "s") << "\n";
  line("EDP") << std::scientific << std::setprecision(3) << energy.edp() << " Js, ED2P " << energy.ed2p()
              << " Js2\n"
              << std::fixed;
  std::vector<std::pair<double, std::string>> parts;
  for (std::size_t c = 0; c < energy::kComponents; ++c) {
    const auto component = static_cast<energy::Component>(c);
    parts.emplace_back(energy.joules(component), energy::name_of(component));
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  line("shares");
  std::string text;
  for (const auto& [part, name] : parts) {
    if (joules == 0 || part / joules < 0.005) continue;
    text += (text.empty() ? "" : ", ") + name + " " + std::to_string(std::lround(100 * part / joules)) + " %";
  }
  out << text << "\n";
}

nlohmann::ordered_json area_json_of(const GpuConfig& config) {
  MachineArea area;
  try {
    area = area_of(config, kStackEntries);
  } catch (const InputError&) {
    return nullptr;  // of a plugin; `weft area` says what is wrong
  }
  const auto is = [](AreaRow::Owner owner) {
    return [owner](const AreaRow& row) { return row.owner == owner; };
  };
  const auto of_scheme = is(AreaRow::Owner::kScheme);
  if (std::none_of(area.rows.begin(), area.rows.end(), of_scheme)) return nullptr;
  const double scheme = area.sm_mm2(of_scheme), registers = area.sm_mm2(is(AreaRow::Owner::kRegisters));
  return {{"node_nm", area.node_nm},
          {"scheme_mm2_per_sm", scheme},
          {"registers_mm2_per_sm", registers},
          {"scheme_share_of_chip", area.chip_mm2 == 0 ? nlohmann::ordered_json(nullptr)
                                                      : nlohmann::ordered_json(area.chip_share(scheme))}};
}

}  // namespace weft::study
