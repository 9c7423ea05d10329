#include "microbenchmarks/results.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "weft/common/error.h"

namespace weft::microbenchmarks {
namespace {

using nlohmann::ordered_json;

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
}

// Four decimals: more than any clock gives.
double rounded(double value) {
  return std::round(value * 10000) / 10000;
}

Result result_of(const ordered_json& json) {
  Result result;
  result.name = json.at("name").get<std::string>();
  result.unit = json.at("unit").get<std::string>();
  for (const auto& [key, value] : json.at("parameters").items())
    result.parameters.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  result.value = json.at("value").get<double>();
  return result;
}

}  // namespace

std::string Result::id() const {
  return Measurement{name, unit, parameters, {}}.id();
}

Results measure(Bench& bench, const std::vector<Measurement>& list,
                const std::function<void(std::size_t, const Measurement&)>& begun) {
  Results results;
  results.machine = bench.facts().name;
  results.software = bench.facts().software;
  results.sms = bench.facts().sms;
  results.core_mhz = bench.facts().core_mhz;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (begun) begun(i, list[i]);
    try {
      results.measurements.push_back({list[i].name, list[i].unit, list[i].parameters, list[i].run(bench)});
    } catch (const Refused& why) {
      results.refused.emplace_back(list[i].id(), why.what());
    }
  }
  return results;
}

std::string json_text(const Results& results) {
  const ordered_json head{{"machine", results.machine},
                          {"software", results.software},
                          {"sms", results.sms},
                          {"core_mhz", results.core_mhz}};
  std::string text = head.dump(1);
  text.erase(text.rfind('\n'));
  const auto add_list = [&](const char* name, const std::vector<ordered_json>& list) {
    text.append(",\n \"").append(name).append("\": [");
    for (std::size_t i = 0; i < list.size(); ++i)
      text.append(i == 0 ? "\n  " : ",\n  ").append(list[i].dump());
    text += "\n ]";
  };
  std::vector<ordered_json> measured, refused;
  for (const Result& result : results.measurements) {
    ordered_json parameters = ordered_json::object();
    for (const auto& [key, value] : result.parameters)
      parameters[key] = is_number(value) ? ordered_json(std::stoull(value)) : ordered_json(value);
    measured.push_back({{"name", result.name},
                        {"parameters", parameters},
                        {"value", rounded(result.value)},
                        {"unit", result.unit}});
  }
  for (const auto& [id, why] : results.refused) refused.push_back({{"measurement", id}, {"reason", why}});
  add_list("measurements", measured);
  if (!refused.empty()) add_list("refused", refused);
  return text + "\n}\n";
}

Results from_json(const ordered_json& json, const std::string& where) {
  Results results;
  try {
    results.machine = json.at("machine").get<std::string>();
    results.software = json.at("software").get<std::string>();
    results.sms = json.at("sms").get<unsigned>();
    results.core_mhz = json.at("core_mhz").get<double>();
    for (const ordered_json& each : json.at("measurements")) results.measurements.push_back(result_of(each));
  } catch (const ordered_json::exception& error) {
    throw InputError(where, std::string("these are no results of weft measure: ") + error.what());
  }
  return results;
}

}  // namespace weft::microbenchmarks
