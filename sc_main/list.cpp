// `weft list`: one line per item, or all that there is to say about one.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "common/config_writer.h"
#include "measures/measures.h"
#include "platform/soc/soc_config.h"
#include "sc_main/options.h"
#include "study/session/outcome.h"
#include "study/session/session.h"
#include "study/terminal/table.h"
#include "weft/warp_formation/scheme.h"
#include "workloads/workload.h"

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

// A line per item on a terminal; whole where a program reads it.
std::string line_of(const std::string& text, std::size_t width) {
  return isatty(STDOUT_FILENO) != 0 ? clipped(text, width) : text;
}

// Names and what they are.
void print_items(const std::vector<std::pair<std::string, std::string>>& items) {
  std::size_t width = 0;
  for (const auto& [name, text] : items) width = std::max(width, display_width(name));
  TextTable table({{"", Align::kLeft}, {"", Align::kLeft}});
  for (const auto& [name, text] : items)
    table.row({name, line_of(text, kPageWidth - std::min(kPageWidth, width + 2))});
  std::cout << table.text();
}

std::string summary_of_gpu(const std::string& name) {
  const GpuConfig config = load_config(name);
  const std::string l2 =
      config.l2.enabled ? fmt::format("{} L2 banks", config.dram.map.channels * config.l2.banks_per_channel)
                        : "no L2";
  return fmt::format("{} SMs, {} x {} lanes, warps of {}, scheme {}, {}, {:g} MHz", config.sm.count,
                     config.sm.arithmetic_lanes() / config.sm.simd_width, config.sm.simd_width,
                     config.warp_formation.warp_size, config.warp_formation.scheme, l2,
                     config.clocks.core_mhz);
}

std::string summary_of_system(const std::string& name) {
  const SocConfig config = load_soc_config(name);
  return fmt::format("system for weft soc: host CPU {}, GPU {}", config.cpu.kind, config.gpu);
}

void list_configs() {
  std::vector<std::pair<std::string, std::string>> items;
  const auto add = [&](const std::string& name, std::string (*summary)(const std::string&)) {
    try {
      items.emplace_back(name, summary(name));
    } catch (const InputError&) {
      items.emplace_back(name, "is not valid: weft check-config " + name + " names the error");
    }
  };
  for (const auto& name : config_names()) add(name, summary_of_gpu);
  for (const auto& name : soc_config_names()) add("soc/" + name, summary_of_system);
  print_items(items);
}

void show_config(const std::string& name) {
  if (is_soc_config(name)) {
    std::cout << text_of(config::write(load_soc_config(name)));
  } else {
    std::cout << text_of(effective_config(load_config(name)));
  }
}

void list_workloads() {
  std::vector<std::pair<std::string, std::string>> items;
  for (const auto& workload : workloads::all()) items.emplace_back(workload->name(), workload->summary());
  print_items(items);
}

void show_workload(const std::string& name, const Paint& paint) {
  const auto workload = workloads::find(name);
  const auto sizes = workload->sizes();
  std::vector<std::string> names{"small", "default", "large"};
  for (const auto& [size, values] : sizes) {
    if (std::find(names.begin(), names.end(), size) == names.end()) names.push_back(size);
  }
  std::vector<TextColumn> columns{{"option", Align::kLeft}, {"from"}, {"to"}, {"multiple of"}};
  for (const std::string& size : names) columns.push_back({size});
  TextTable table(std::move(columns)), meanings({{"", Align::kLeft}, {"", Align::kLeft}});
  for (const auto& option : workload->options()) {
    std::vector<std::string> cells{option.name, std::to_string(option.low), std::to_string(option.high),
                                   std::to_string(option.multiple)};
    for (const std::string& size : names) cells.push_back(std::to_string(sizes.at(size).at(option.name)));
    table.row(std::move(cells));
    meanings.row({option.name, option.meaning});
  }
  std::cout << name << ": " << workload->summary() << "\n\n"
            << meanings.text() << "\n"
            << table.text(kPageWidth, paint);
  bool first = true;
  for (const auto& [size, settings] : workload->settings()) {
    std::string line = "size " + size + " sets";
    for (const std::string& setting : settings) line += " " + setting;
    std::cout << (first ? "\n" : "") << wrapped(line, kPageWidth);
    first = false;
  }
}

// Divergence schemes of the papers that are settings of the datapath, beside any scheme of warp formation.
struct Compaction {
  const char* name;
  const char* setting;
  const char* meaning;
};
constexpr Compaction kCompactions[] = {  // NOLINT(*-avoid-c-arrays)
    {"bcc", "+datapath.compaction=bcc",
     "with any scheme: basic cycle compression; groups of lanes without a thread take no cycle"},
    {"scc", "+datapath.compaction=scc",
     "with any scheme: swizzled cycle compression; threads also move to free lanes"}};

void list_schemes() {
  std::vector<std::pair<std::string, std::string>> items;
  for (const auto& name : warp_formation::scheme_names())
    items.emplace_back(name, warp_formation::find_scheme(name)->meaning);
  for (const Compaction& compaction : kCompactions)
    items.emplace_back(compaction.setting, compaction.meaning);
  print_items(items);
}

// The keys, out of the schema.
void show_keys(const ordered_json& object, const std::string& path, const Paint& paint) {
  for (const auto& [key, value] : object.at("properties").items()) {
    const std::string name = path + "." + key;
    if (value.contains("properties")) {
      show_keys(value, name, paint);
      continue;
    }
    std::string allowed;
    if (value.contains("enum")) {
      for (const auto& word : value.at("enum"))
        allowed += (allowed.empty() ? "" : ", ") + word.get<std::string>();
    } else if (value.contains("maximum")) {
      const ordered_json& low =
          value.contains("minimum") ? value.at("minimum") : value.at("exclusiveMinimum");
      allowed = low.dump() + " to " + value.at("maximum").dump();
    } else {
      allowed = value.at("type").get<std::string>();
    }
    const ordered_json& preset = value.at("default");
    std::cout << "\n"
              << paint.heading(name) << " = "
              << (preset.is_string() ? preset.get<std::string>() : preset.dump()) << "\n"
              << wrapped(value.at("description").get<std::string>(), kPageWidth, 4)
              << wrapped("allowed: " + allowed, kPageWidth, 4);
  }
}

void show_compaction(const Compaction& compaction, const Paint& paint) {
  std::cout << compaction.name << ": " << compaction.meaning << "\n"
            << wrapped(std::string("as in: weft compare --schemes sbr,sbr") + compaction.setting, kPageWidth);
  ordered_json keys = config_schema().at("properties").at("datapath");
  const ordered_json all = keys.at("properties");
  keys["properties"] = ordered_json::object();
  for (const char* key : {"compaction", "swizzle_latency", "guard"}) keys["properties"][key] = all.at(key);
  show_keys(keys, "datapath", paint);
}

void show_scheme(const std::string& name, const Paint& paint) {
  for (const Compaction& compaction : kCompactions) {
    if (name == compaction.name) return show_compaction(compaction, paint);
  }
  const warp_formation::Scheme* const scheme = warp_formation::find_scheme(name);
  if (scheme == nullptr)
    throw InputError("weft list schemes", "unknown scheme '" + name +
                                              "'; known: " + warp_formation::known_schemes() +
                                              ", and the compactions bcc and scc");
  std::cout << name << ": " << (scheme->meaning.empty() ? "no description" : scheme->meaning) << "\n";
  const ordered_json schemes = config_schema().at("properties").at("warp_formation").at("properties");
  if (schemes.contains(name)) show_keys(schemes.at(name), "warp_formation." + name, paint);
}

constexpr const char* kLists = "configs|workloads|schemes|statistics|measures";

// Instances (sm0, sm1 ...) are listed once, as sm*. Those whose name begins with `wanted` in full.
void list_statistics(const std::string& config, const std::string& wanted) {
  SessionOptions options;
  options.config = config;
  Session session(options);
  std::set<std::string> seen;
  bool found = false;
  session.device().gpu().statistics().each(
      [&](const std::vector<const statistics::Group*>& way, const statistics::Entry& entry) {
        std::string name;
        for (const statistics::Group* group : way)
          name += (group->index() ? statistics::pattern_of(group->kind()) : group->name()) + ".";
        name += entry.name;
        if (!seen.insert(name).second || name.rfind(wanted, 0) != 0) return;
        found = true;
        const bool gauge = entry.kind == statistics::Entry::Kind::kGauge;
        const std::string head = fmt::format("{} [{}]", name, entry.unit.name()),
                          text = fmt::format("{}{}", entry.description, gauge ? " (samples only)" : "");
        if (wanted.empty()) {
          std::cout << line_of(head + "  " + text, kPageWidth) << "\n";
        } else {
          std::cout << head << "\n" << wrapped(text, kPageWidth, 4);
        }
      });
  if (!found)
    throw InputError("weft list statistics", "no statistic of " + config + " begins with '" + wanted + "'");
}

// The derived values; of those whose names begin with `wanted` in full.
void list_measures(const std::string& wanted) {
  bool found = false;
  for (const measures::Definition& row : measures::rows()) {
    if (std::string_view(row.name).rfind(wanted, 0) != 0) continue;
    found = true;
    const std::string head = fmt::format("{} [{}]", row.name, row.unit.name());
    if (wanted.empty()) {
      std::cout << line_of(head + "  " + row.meaning, kPageWidth) << "\n";
      continue;
    }
    std::cout << head << "\n" << wrapped(row.meaning, kPageWidth, 4);
    std::cout << wrapped("= " + measures::formula_of(row), kPageWidth, 4);
    if (*row.needs != '\0') std::cout << wrapped(std::string("needs ") + row.needs, kPageWidth, 4);
  }
  if (!found) throw InputError("weft list measures", "no derived value begins with '" + wanted + "'");
}

ordered_json measures_json() {
  ordered_json list = ordered_json::array();
  for (const measures::Definition& row : measures::rows()) {
    list.push_back({{"name", row.name},
                    {"heading", row.heading},
                    {"unit", row.unit.name()},
                    {"meaning", row.meaning},
                    {"formula", measures::formula_of(row)},
                    {"needs", row.needs}});
  }
  return list;
}

}  // namespace

ExitCode list(const Words& words) {
  std::string what, name, config = "gtx480";
  bool as_json = false;
  Options options("options");
  options.text("what", what, kLists, "what to list", true)
      .text("name", name, "NAME",
            "show details of this entry; statistics and measures: of those whose names begin with NAME")
      .text("config", config, "NAME", "configuration whose statistics are listed")
      .flag("json", as_json, "measures: list all as JSON")
      .plugins();
  if (!parse(words, std::string("weft list ") + kLists + " [NAME] [--config NAME|FILE] [--json]", options,
             "what name")) {
    return ExitCode::kDone;
  }
  if (as_json && (what != "measures" || !name.empty()))
    throw InputError("--json", "found 'weft list " + what + (name.empty() ? "" : " " + name) +
                                   "'; allowed: weft list measures --json");
  const Paint paint = Paint::of(STDOUT_FILENO);
  if (what == "configs") {
    name.empty() ? list_configs() : show_config(name);
  } else if (what == "workloads") {
    name.empty() ? list_workloads() : show_workload(name, paint);
  } else if (what == "schemes") {
    name.empty() ? list_schemes() : show_scheme(name, paint);
  } else if (what == "statistics") {
    list_statistics(config, name);
  } else if (what == "measures") {
    as_json ? void(std::cout << text_of(measures_json())) : list_measures(name);
  } else {
    throw InputError("weft list",
                     "unknown '" + what + "'; known: configs, workloads, schemes, statistics, measures");
  }
  return ExitCode::kDone;
}

}  // namespace weft::cli
