#include "study/page/area_printed.h"

#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "common/input_file.h"
#include "common/output_files.h"
#include "study/judge/library_form.h"
#include "study/page/experiment_page.h"
#include "study/plan/place.h"
#include "study/plan/variant.h"
#include "study/session/machine_area.h"
#include "study/session/outcome.h"

namespace weft::study {
namespace {
namespace printed_areas {

// A machine of area.json, and what might as well be set of what its paper does not print: each one or more
// settings with spaces between them.
struct Machine {
  std::string config;
  Words overrides;
  Words unprinted;
};

// What of a machine is measured, or of an array that no machine has.
struct Measured {
  std::optional<storage::Array> array;
  double node_nm = 0;  // of the array
  const Machine* machine = nullptr;
  Words overrides;
  Words parts, kinds;  // kinds: empty: all
  std::string value;   // "mm2", "ns", "bits" or "chip_share"
  std::string per;     // "array", "domain", "sm" or "chip"
  double plus = 0, over = 1;
  std::string where;  // in the file
};

// A line beside something printed that is no claim, or nothing.
struct Line {
  std::string what, printed;
  Measured measured;
};
struct Group {
  std::string title, about;
  std::vector<Line> lines;
};

struct Plan {
  std::string title, about;
  std::map<std::string, Machine> machines;
  std::vector<std::pair<const Claim*, Measured>> claims;
  std::vector<Group> groups;
};

Words texts_at(const Place& place, const std::string& key) {
  return place.has(key) ? place.at(key).texts() : Words();
}

Machine read_machine(const Place& place) {
  place.keys(area_form()["area machine"]);
  Machine machine{place.at("config").text(), texts_at(place, "set"), texts_at(place, "unprinted")};
  if (place.has("scheme")) {
    const Variant scheme = variant(place.at("scheme").where(), place.at("scheme").text());
    machine.overrides.insert(machine.overrides.end(), scheme.overrides.begin(), scheme.overrides.end());
  }
  return machine;
}

// An array that is written down here: what a paper may have asked CACTI for.
Measured read_array(const Place& place) {
  Measured measured;
  const Place array = place.at("array");
  array.keys(area_form()["array"]);
  const Words kinds = {"RAM", "tags", "CAM", "crossbar"};
  const auto kind = std::find(kinds.begin(), kinds.end(), array.at("kind").one_of(kinds)) - kinds.begin();
  const auto count = [&](const char* key) {
    return array.has(key) ? static_cast<std::uint64_t>(std::max(0.0, array.at(key).number())) : 1;
  };
  measured.array = storage::array("array", static_cast<storage::Kind>(kind), count("entries"), count("bits"),
                                  count("ways"));
  measured.array->copies = count("copies");
  measured.node_nm = array.at("node_nm").number();
  measured.value = place.at("value").one_of({"mm2", "ns"});
  measured.where = place.where();
  return measured;
}

Measured read_measured(const Place& place, const Plan& plan) {
  Words names;
  for (const auto& [name, machine] : plan.machines) names.push_back(name);
  Measured measured;
  measured.machine = &plan.machines.at(place.at("machine").one_of(names));
  measured.overrides = texts_at(place, "set");
  measured.parts = place.at("parts").texts();
  if (place.has("kinds")) {
    for (const Place& kind : place.at("kinds").items())
      measured.kinds.push_back(kind.one_of({"RAM", "tags", "CAM", "crossbar"}));
  }
  measured.value = place.at("value").one_of({"mm2", "ns", "bits", "chip_share"});
  measured.per = place.at("per").one_of({"array", "domain", "sm", "chip"});
  if (place.has("plus")) measured.plus = place.at("plus").number();
  if (place.has("over")) measured.over = place.at("over").number();
  measured.where = place.where();
  return measured;
}

Plan read_plan(const nlohmann::json& json, const std::string& file, const Claims& claims) {
  const Place root(json, file);
  root.keys(area_form()["area"]);
  Plan plan;
  plan.title = root.at("title").text();
  plan.about = root.at("about").text();
  for (const auto& [name, machine] : root.at("machines").members())
    plan.machines[name] = read_machine(machine);
  for (const Place& place : root.at("claims").items()) {
    place.keys(area_form()["area claim"]);
    Measured measured = read_measured(place, plan);
    const Claim* const claim = claims.find(place.at("id").text());
    if (claim == nullptr) place.at("id").refuse("the id of a claim in claims.json");
    plan.claims.emplace_back(claim, std::move(measured));
  }
  for (const Place& place : root.at("groups").items(true)) {
    place.keys(area_form()["area group"]);
    Group group{place.at("title").text(), place.at("about").text(), {}};
    for (const Place& line : place.at("lines").items()) {
      const bool of_array = line.has("array");
      line.keys(area_form()[of_array ? "array line" : "area line"]);
      Measured measured = of_array ? read_array(line) : read_measured(line, plan);
      group.lines.push_back({line.at("what").text(), line.text_of("printed", "-"), std::move(measured)});
    }
    plan.groups.push_back(std::move(group));
  }
  return plan;
}

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A search goes first through what is compared, then through what is read: of each the slowest array.
double access_ns(const std::vector<const AreaRow*>& rows) {
  double compared = 0;
  double read = 0;
  for (const AreaRow* row : rows) {
    double& slowest = row->array.kind == storage::Kind::kRam ? read : compared;
    slowest = std::max(slowest, row->cost.access_ns);
  }
  return compared + read;
}

// The area of its machine, with `more` set.
MachineArea machine_of(const Measured& measured, const Words& more) {
  Words overrides = measured.machine->overrides;
  for (const Words& set : {measured.overrides, more})
    overrides.insert(overrides.end(), set.begin(), set.end());
  return area_of(load_config(measured.machine->config, overrides), kStackEntries);
}

// The arrays that are measured.
std::vector<const AreaRow*> rows_of(const Measured& measured, const MachineArea& area) {
  std::vector<const AreaRow*> rows;
  for (const std::string& part : measured.parts) {
    const std::size_t before = rows.size();
    for (const AreaRow& row : area.rows) {
      if (row.array.part == part && (measured.kinds.empty() || has(measured.kinds, name_of(row.array.kind))))
        rows.push_back(&row);
    }
    if (rows.size() != before) continue;
    std::string known;
    for (const AreaRow& row : area.rows)
      known.append(known.empty() ? "" : ", ")
          .append(row.array.part)
          .append(" ")
          .append(name_of(row.array.kind));
    std::string text = "unknown part \"";
    text.append(part).append("\"; ").append(area.machine).append(" with scheme ");
    text.append(area.scheme).append(" has ").append(known);
    throw InputError(measured.where, text);
  }
  return rows;
}

double value_of(const Measured& measured, const Words& more = {}) {
  if (measured.array) {
    const area::ArrayCost cost = area::cost_of(*measured.array, measured.node_nm, measured.where);
    return measured.value == "ns" ? cost.access_ns : cost.area_mm2;
  }
  const MachineArea area = machine_of(measured, more);
  const std::vector<const AreaRow*> rows = rows_of(measured, area);
  double sum = 0;
  for (const AreaRow* row : rows) {
    const double of_domain =
        measured.value == "bits" ? static_cast<double>(row->array.stored_bits()) : row->cost.area_mm2;
    const double number = measured.per == "array"    ? 1.0 / static_cast<double>(row->array.copies)
                          : measured.per == "domain" ? 1.0
                                                     : static_cast<double>(row->each);
    sum += of_domain * number * (measured.per == "chip" ? static_cast<double>(area.sms) : 1.0);
  }
  if (measured.value == "ns") sum = access_ns(rows);
  if (measured.value == "chip_share") {
    if (area.chip_mm2 == 0)
      throw InputError(measured.where,
                       "the area of the chip is unknown; set process.chip_mm2 of " + area.machine);
    sum /= area.chip_mm2;
  }
  return sum / measured.over + measured.plus;
}

ClaimResult judged(const Claim& claim, const Measured& measured, const Rules& rules) {
  ClaimResult result;
  result.claim = &claim;
  result.finding = Finding{value_of(measured), "", {}};
  const Verdict own = judge(claim, rules, *result.finding);
  result.verdict = result.plain = result.worst = own;
  for (const std::string& setting : measured.machine->unprinted) {
    const Finding other{value_of(measured, split(measured.where, setting, ' ')), "", {}};
    const Verdict verdict = judge(claim, rules, other);
    if (verdict == own) continue;
    add_flip(result, setting, other, verdict);
  }
  return result;
}

std::string number(double value) {
  std::ostringstream out;
  out << std::setprecision(4) << value;
  return out.str();
}

std::string file_of(const Library& library) {
  return library.folder + "/area.json";
}

Plan read_plan(const Library& library) {
  const std::string file = file_of(library);
  const auto json = nlohmann::json::parse(read_input(file), nullptr, false);
  if (json.is_discarded()) throw InputError(file, "is not valid JSON");
  return read_plan(json, file, library.claims);
}

std::string in_words(const Measured& measured) {
  const std::string& value = measured.value;
  std::string text = value == "ns" ? "access time in ns, the slowest compared array and the slowest read one,"
                     : value == "bits"       ? "bits"
                     : value == "chip_share" ? "share of the chip's area that is"
                                             : "mm2";
  text += " of " + joined(measured.parts) + " per " + measured.per;
  if (measured.over != 1) text += ", over " + number(measured.over);
  if (measured.plus != 0) text += ", plus " + number(measured.plus);
  return text;
}

// Without runs: the arrays of the machine stand in their place.
ShownClaim shown(const Claim& claim, const Measured& measured, const std::string& file, const Rules& rules) {
  ShownClaim one;
  one.experiment = "area";
  one.file = file;
  one.written = written_claim(file, claim.id);
  one.result = judged(claim, measured, rules);
  one.formula = {{"in words", "ours"}, {{in_words(measured), number(one.result.finding->number)}}};
  one.numbers.headings = {"array", "kind", "copies", "per SM", "bits", "mm2", "ns"};
  const MachineArea area = machine_of(measured, {});
  for (const AreaRow* row : rows_of(measured, area)) {
    one.numbers.rows.push_back({row->array.part, name_of(row->array.kind), std::to_string(row->array.copies),
                                std::to_string(row->each), std::to_string(row->array.stored_bits()),
                                number(row->cost.area_mm2), number(row->cost.access_ns)});
  }
  for (const std::string& setting : measured.machine->unprinted) {
    const Finding other{value_of(measured, split(measured.where, setting, ' ')), "", {}};
    one.others.push_back({"setting", setting, study::shown(claim, other), judge(claim, rules, other)});
  }
  one.runs_about = "None are needed: areas follow from the configuration of the machine, " + area.machine +
                   " with scheme " + area.scheme + ".";
  return one;
}

bool report(const Library& library, const std::string& folder, bool print) {
  const Claims& claims = library.claims;
  const Plan plan = read_plan(library);

  std::vector<ClaimResult> results;
  results.reserve(plan.claims.size());
  for (const auto& [claim, measured] : plan.claims) results.push_back(judged(*claim, measured, claims.rules));
  Page page;
  page.title = plan.title;
  page.paragraphs = {"Made by `weft area --printed`.", plan.about};
  page.sections.push_back(claims_section(results, library.causes, true));
  nlohmann::ordered_json out{
      {"experiment", "area"}, {"title", plan.title}, {"claims", nlohmann::ordered_json::array()}};
  for (const ClaimResult& result : results) out["claims"].push_back(json_of(result));
  for (const Group& group : plan.groups) {
    Section section{group.title, {group.about}, {{"what", "printed", "ours"}, {}}};
    for (const Line& line : group.lines) {
      const double value = value_of(line.measured);
      section.table.rows.push_back({line.what, line.printed, number(value)});
      out["lines"].push_back(
          {{"group", group.title}, {"what", line.what}, {"printed", line.printed}, {"ours", value}});
    }
    page.sections.push_back(std::move(section));
  }
  bool there = save_result(folder + "/area.json", text_of(out));
  there = save_result(folder + "/area.md", markdown(page)) && there;
  there = save_result(folder + "/verdicts.md", markdown(verdicts_of(claims, folder))) && there;
  if (print) std::cout << plain(page, Paint::of(STDOUT_FILENO));
  return there;
}

}  // namespace printed_areas
}  // namespace

bool report_printed_areas(const Library& library, const std::string& folder, bool print) {
  return printed_areas::report(library, folder, print);
}

std::vector<std::string> printed_areas_of(const Library& library) {
  std::vector<std::string> ids;
  for (const auto& [claim, measured] : printed_areas::read_plan(library).claims) ids.push_back(claim->id);
  return ids;
}

ShownClaim shown_area(const Library& library, const std::string& id) {
  const printed_areas::Plan plan = printed_areas::read_plan(library);
  const std::string file = printed_areas::file_of(library);
  for (const auto& [claim, measured] : plan.claims) {
    if (claim->id == id) return printed_areas::shown(*claim, measured, file, library.claims.rules);
  }
  throw InputError(file, "has no claim '" + id + "'");
}

}  // namespace weft::study
