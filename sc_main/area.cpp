#include <unistd.h>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sc_main/options.h"
#include "study/judge/library.h"
#include "study/page/area_printed.h"
#include "study/page/page.h"
#include "study/plan/variant.h"
#include "study/run/results_folder.h"
#include "study/session/machine_area.h"
#include "study/session/outcome.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

std::string fixed_text(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

std::string chip_percent(const MachineArea& area, double sm_mm2) {
  return area.chip_mm2 == 0 ? "-" : fixed_text(100 * area.chip_share(sm_mm2), 3) + " %";
}

// "1rw", "4r 4w"
std::string ports_text(const storage::Ports& ports) {
  std::string text;
  const auto some = [&](std::uint64_t count, const char* kind) {
    if (count != 0) text.append(text.empty() ? "" : " ").append(std::to_string(count)).append(kind);
  };
  some(ports.read_write, "rw");
  some(ports.read, "r");
  some(ports.write, "w");
  return text;
}

std::string array_kind(const storage::Array& array) {
  std::string kind = name_of(array.kind);
  if (array.kind == storage::Kind::kCrossbar) return kind;
  if (array.ways > 1) kind += ", " + std::to_string(array.ways) + " ways";
  return kind;
}

std::string array_size(const storage::Array& array) {
  if (array.kind != storage::Kind::kCrossbar)
    return std::to_string(array.entries) + " x " + std::to_string(array.bits);
  return std::to_string(array.entries) + " to " + std::to_string(array.ways) + " of " +
         std::to_string(array.bits);
}

Page area_page(const MachineArea& area) {
  Page page;
  page.title = area.machine + ", scheme " + area.scheme;
  std::ostringstream line;
  line << area.sms << " SMs, " << area.node_nm << " nm, ";
  if (area.chip_mm2 == 0) {
    line << "area of the chip unknown (process.chip_mm2)";
  } else {
    line << "chip of " << area.chip_mm2 << " mm2";
  }
  page.paragraphs.push_back(line.str());
  Section section;
  section.title = "Per SM";
  section.table.headings = {"part", "kind", "entries x bits", "ports",  "number",
                            "bits", "mm2",  "access ns",      "of chip"};
  bool outside = false;
  for (const AreaRow& row : area.rows) {
    outside = outside || row.cost.outside;
    section.table.rows.push_back({row.array.part, array_kind(row.array), array_size(row.array),
                                  ports_text(row.array.ports), std::to_string(row.each * row.array.copies),
                                  std::to_string(row.sm_bits()),
                                  fixed_text(row.sm_mm2(), 5) + (row.cost.outside ? "*" : ""),
                                  row.cost.access_ns == 0 ? "-" : fixed_text(row.cost.access_ns, 3),
                                  chip_percent(area, row.sm_mm2())});
  }
  const auto total = [&](const std::string& name, AreaRow::Owner owner) {
    std::uint64_t bits = 0;
    for (const AreaRow& row : area.rows) bits += row.owner == owner ? row.sm_bits() : 0;
    const double mm2 = area.sm_mm2([&](const AreaRow& row) { return row.owner == owner; });
    section.table.rows.push_back(
        {name, "", "", "", "", std::to_string(bits), fixed_text(mm2, 5), "", chip_percent(area, mm2)});
  };
  total("all of the scheme", AreaRow::Owner::kScheme);
  total("all registers", AreaRow::Owner::kRegisters);
  if (outside)
    section.paragraphs.emplace_back(
        "* outside of the range to which the model was fitted (modules/area/README.md)");
  page.sections.push_back(section);
  return page;
}

nlohmann::ordered_json area_json(const MachineArea& area) {
  nlohmann::ordered_json json{{"machine", area.machine},
                              {"scheme", area.scheme},
                              {"node_nm", area.node_nm},
                              {"chip_mm2", area.chip_mm2},
                              {"sms", area.sms},
                              {"domains", area.domains},
                              {"arrays", nlohmann::ordered_json::array()}};
  for (const AreaRow& row : area.rows) {
    const storage::Array& array = row.array;
    json["arrays"].push_back(
        {{"part", array.part},
         {"of", row.owner == AreaRow::Owner::kScheme ? "scheme" : "registers"},
         {"kind", name_of(array.kind)},
         {"entries", array.entries},
         {"bits", array.bits},
         {"ways", array.ways},
         {"ports",
          {{"read_write", array.ports.read_write}, {"read", array.ports.read}, {"write", array.ports.write}}},
         {"banks", array.banks},
         {"number", row.each * array.copies},
         {"statistic", array.statistic},
         {"sm_bits", row.sm_bits()},
         {"sm_mm2", row.sm_mm2()},
         {"access_ns", row.cost.access_ns},
         {"chip_share", area.chip_share(row.sm_mm2())},
         {"outside", row.cost.outside}});
  }
  return json;
}

}  // namespace

ExitCode area(const Words& words) {
  std::string config = "gtx480";
  std::string scheme;
  std::string printed;
  std::vector<std::string> overrides;
  std::uint64_t stack_entries = kStackEntries;
  bool json = false;
  Options options("options");
  options.text("config", config, "NAME", "machine: a name or a JSON file")
      .list("set", overrides, "PATH=VALUE", "override values")
      .text("scheme", scheme, "NAME",
            "scheme, in the form of --schemes of weft compare: harp, dwr-16, harp+harp.second_level=64")
      .number("stack-entries", stack_entries, {1, 65536, 1, "entries"},
              "entries of each reconvergence stack, whose depth no table limits")
      .flag("json", json, "as JSON")
      .text("printed", printed, "DIR",
            "instead of a machine: compare with the printed areas of the papers; write area.md, area.json "
            "and verdicts.md to DIR")
      .plugins();
  if (!parse(words, "weft area [--config NAME|FILE] [--scheme NAME] [--set PATH=VALUE ...]", options)) {
    return ExitCode::kDone;
  }
  if (!printed.empty()) {
    const ResultsFolder locked(printed, "area");
    return report_printed_areas(read_library(experiment_folder()), printed, true) ? ExitCode::kDone
                                                                                  : ExitCode::kBadInput;
  }
  if (!scheme.empty()) {
    const Variant chosen = variant("--scheme", scheme);
    overrides.insert(overrides.end(), chosen.overrides.begin(), chosen.overrides.end());
  }
  const MachineArea area = area_of(load_config(config, overrides), stack_entries);
  std::cout << (json ? text_of(area_json(area)) : plain(area_page(area), Paint::of(STDOUT_FILENO)));
  return ExitCode::kDone;
}

}  // namespace weft::cli
