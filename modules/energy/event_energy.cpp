#include "energy/event_energy.h"

#include <nlohmann/json.hpp>

namespace weft::energy {

const char* name_of(Component component) {
  static constexpr std::array<const char*, kComponents> kNames = {
      "lanes", "registers", "front_end", "scheme", "shared_memory", "load_store",
      "l1",    "network",   "l2",        "dram",   "clock",         "leakage"};
  return kNames[static_cast<std::size_t>(component)];
}

double Energy::joules() const {
  double sum = 0;
  for (const Part& part : parts) sum += part.joules();
  return sum;
}
double Energy::joules(Component component) const {
  double sum = 0;
  for (const Part& part : parts) sum += part.component == component ? part.joules() : 0;
  return sum;
}
double Energy::joules_low() const {
  double sum = 0;
  for (const Part& part : parts) sum += part.count * part.price.low * 1e-12;
  return sum;
}
double Energy::joules_high() const {
  double sum = 0;
  for (const Part& part : parts) sum += part.count * part.price.high * 1e-12;
  return sum;
}

nlohmann::ordered_json json_of(const Energy& energy, const Technology& technology) {
  nlohmann::ordered_json json;
  json["technology"] = technology.name();
  json["node_nm"] = technology.node_nm();
  json["seconds"] = energy.seconds;
  json["joules"] = energy.joules();
  json["joules_low"] = energy.joules_low();
  json["joules_high"] = energy.joules_high();
  json["chip_joules"] = energy.chip_joules();
  json["watts"] = energy.watts();
  json["edp"] = energy.edp();
  json["ed2p"] = energy.ed2p();
  nlohmann::ordered_json& components = json["components"];
  for (std::size_t c = 0; c < kComponents; ++c)
    components[name_of(static_cast<Component>(c))] = energy.joules(static_cast<Component>(c));
  nlohmann::ordered_json& events = json["events"];
  for (const Energy::Part& part : energy.parts) {
    events[part.name] = {{"count", part.count},
                         {"picojoules", part.price.picojoules},
                         {"low", part.price.low},
                         {"high", part.price.high},
                         {"joules", part.joules()}};
  }
  return json;
}

}  // namespace weft::energy
