#include "study/run/run_measures.h"

#include <nlohmann/json.hpp>

#include "common/statistics_sample.h"
#include "measures/sources.h"

namespace weft::study {

using nlohmann::ordered_json;

std::optional<double> Measures::of(const char* name) const {
  const auto found = derived.find(name);
  return found == derived.end() ? std::nullopt : std::optional(found->second);
}

Measures Measures::of(const ordered_json& statistics) {
  Measures m;
  m.cycles = statistics.at("cycles").get<std::uint64_t>();
  m.thread_instructions = statistics.at("thread_instructions").get<std::uint64_t>();
  m.executed_thread_instructions = statistics.at("executed_thread_instructions").get<std::uint64_t>();
  for (const measures::Definition& row : measures::rows()) {
    if (const auto value = measures::value_in(statistics, row)) m.derived.emplace(row.name, *value);
  }
  const ordered_json& bound = statistics.at("bound_by");
  if (!bound.is_null()) {
    m.bound = bound.at("resource").get<std::string>();
    m.bound_by = bound.at("short").get<std::string>();
    m.bound_text = bound.at("text").get<std::string>();
    m.bound_waits = bound.at("waits").get<std::string>();
    m.bound_busy = bound.at("busy").get<double>();
  }
  m.cpu_seconds = statistics.at("cpu_seconds").get<double>();
  if (statistics.contains("energy")) {
    const ordered_json& energy = statistics.at("energy");
    m.joules = energy.at("joules").get<double>();
    m.watts = energy.at("watts").get<double>();
    m.edp = energy.at("edp").get<double>();
    m.ed2p = energy.at("ed2p").get<double>();
  }

  if (statistics.contains("area") && !statistics.at("area").is_null()) {
    const ordered_json& area = statistics.at("area");
    m.scheme_mm2 = area.at("scheme_mm2_per_sm").get<double>();
    m.area_mm2 = *m.scheme_mm2 + area.at("registers_mm2_per_sm").get<double>();
  }

  const statistics::Sample sample(statistics.at("statistics"));
  if (sample.has({{"sm", 0}, "warp_formation", "storage_bits"})) {
    m.storage_bits = static_cast<std::uint64_t>(sample.sum({{"sm", 0}, "warp_formation", "storage_bits"}));
  }
  return m;
}

}  // namespace weft::study
