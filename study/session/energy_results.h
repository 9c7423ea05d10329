// The energy of a run, from what is in its stats.json and config.json.
#ifndef WEFT_STUDY_SESSION_ENERGY_RESULTS_H
#define WEFT_STUDY_SESSION_ENERGY_RESULTS_H

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "energy/event_energy.h"
#include "study/terminal/paint.h"
#include "weft/platform/gpu_config.h"

namespace weft::study {

// Of `statistics` as Group::sample makes them; none if sm.observe.events was off.
std::optional<energy::Energy> energy_of(const nlohmann::ordered_json& statistics, const GpuConfig& config,
                                        const energy::Technology& technology);

// For people: energy, power, and where it goes.
void write_energy(std::ostream& out, const energy::Energy& energy, const energy::Technology& technology,
                  const Paint& paint = {});

// mm2 that the scheme's tables and the registers of an SM take; null if the scheme declares no arrays, or
// some that have no area.
nlohmann::ordered_json area_json_of(const GpuConfig& config);

}  // namespace weft::study

#endif
