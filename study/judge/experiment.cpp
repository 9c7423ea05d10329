#include "study/judge/experiment.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "common/config_document.h"
#include "study/judge/experiment_form.h"
#include "study/judge/other_prices.h"
#include "study/plan/place.h"
#include "study/session/raw_argument.h"
#include "weft/common/error.h"
#include "weft/ptx/module.h"
#include "workloads/workload.h"

namespace weft::study {
namespace {

void must_be_new(std::set<std::string>& names, const std::string& name, const Place& place) {
  if (!names.insert(name).second) throw InputError(place.where(), "duplicate '" + name + "'");
}

void check_override(const Place& place) {
  const std::string text = place.text();
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) place.refuse("\"path=value\"");
}

std::vector<std::string> read_overrides(const Place& place) {
  if (!place.has("set")) return {};
  for (const Place& item : place.at("set").items()) check_override(item);
  return place.at("set").texts();
}

// The kernels of workloads, each read once.
class Kernels {
 public:
  const std::vector<std::string>& of(const workloads::Workload& workload) {
    const auto [found, fresh] = known_.try_emplace(workload.name());
    if (fresh) {
      const workloads::Code code = workload.code();
      found->second = ptx::parse(code.ptx, code.file).kernels;
    }
    return found->second;
  }

 private:
  std::map<std::string, std::vector<std::string>> known_;
};

// A path as it stands in the experiment: relative to its folder.
std::string path_of(const std::string& text, const Place& place) {
  std::filesystem::path path(text);
  if (path.is_relative()) path = std::filesystem::path(place.file()).parent_path() / path;
  return path.lexically_normal().string();
}

// An argument of a kernel. The file of a buffer's content is relative to the experiment's folder, too.
std::string read_argument(const Place& place) {
  static const std::string kContent = "=file:";
  std::string text = place.text();
  parse_argument(place.where(), text);
  const std::size_t content = text.find(kContent);
  if (content == std::string::npos) return text;
  const std::size_t path = content + kContent.size();
  return text.substr(0, path) + path_of(text.substr(path), place);
}

void read_file(const char* key, const Place& place, ExperimentProgram& program) {
  program.file = path_of(place.at(key).text(), place);
  program.key = place.at(key).pointer();
}

void read_ptx(const Place& place, ExperimentProgram& program) {
  place.keys(experiment_form()["PTX program"]);
  program.kind = Run::Kind::kPtx;
  read_file("ptx", place, program);
  for (const char* key : {"kernel", "grid", "block", "shared"}) {
    if (!place.has(key)) continue;
    program.arguments.push_back(std::string("--") + key);
    program.arguments.push_back(place.at(key).text());
  }
  bool any_buffer = false;
  for (const Place& item : place.at("arguments").items()) {
    program.arguments.emplace_back("--arg");
    program.arguments.push_back(read_argument(item));
    any_buffer = any_buffer || item.text().rfind("ptr:", 0) == 0;
  }
  if (!any_buffer) {
    place.at("arguments").refuse("at least one buffer (\"ptr:BYTES\") to compare with a functional run");
  }
}

void read_cuda(const Place& place, ExperimentProgram& program) {
  place.keys(experiment_form()["CUDA program"]);
  program.kind = Run::Kind::kCuda;
  read_file("cuda", place, program);
  if (place.has("arguments")) program.arguments = place.at("arguments").texts(true);
}

void read_workload(const Place& place, const std::string& size, Kernels& kernels,
                   ExperimentProgram& program) {
  place.keys(experiment_form()["workload"]);
  program.workload = place.at("workload").text();
  program.size = place.text_of("size", size);
  if (program.size.empty()) throw InputError(place.where(), "'size' is missing, here and for all programs");
  std::unique_ptr<workloads::Workload> workload;
  try {
    workload = workloads::find(program.workload);
    workloads::values_of(*workload, program.size);
  } catch (const InputError& error) {
    throw InputError(place.where(), error.what());
  }
  if (place.has("kernel")) program.kernel = place.at("kernel").one_of(kernels.of(*workload));
}

ExperimentProgram read_program(const Place& place, const std::string& size, Kernels& kernels) {
  if (!place.value().is_object() || place.has("ptx") + place.has("cuda") + place.has("workload") != 1)
    place.refuse("an object with exactly one of \"workload\", \"ptx\" and \"cuda\"");
  ExperimentProgram program;
  if (place.has("workload")) {
    read_workload(place, size, kernels, program);
  } else {
    place.has("ptx") ? read_ptx(place, program) : read_cuda(place, program);
    program.workload = std::filesystem::path(program.file).stem().string();
  }
  program.abbr = place.at("abbr").text();
  program.type = place.text_of("type");
  program.overrides = read_overrides(place);
  if (place.has("seconds")) {
    program.seconds = place.at("seconds").number();
    if (*program.seconds < 0) place.at("seconds").refuse("a number of at least 0");
  }
  return program;
}

void read_programs(const Place& place, Experiment& experiment) {
  const std::string size = place.text_of("size");
  std::set<std::string> names;
  Kernels kernels;
  for (const Place& item : place.at("programs").items()) {
    experiment.programs.push_back(read_program(item, size, kernels));
    must_be_new(names, experiment.programs.back().abbr, item);
  }
}

void read_classes(const Place& place, Experiment& experiment) {
  if (!place.has("class")) return;
  const Place item = place.at("class");
  item.keys(experiment_form()["class"]);
  std::vector<std::string> measures, variants, programs;
  for (const auto& measure : experiment.measures) measures.push_back(measure.name);
  for (const auto& variant : experiment.variants) variants.push_back(variant.name);
  for (const auto& program : experiment.programs) {
    programs.push_back(program.abbr);
    if (!program.type.empty())
      throw InputError(item.where(), "is not allowed: programs already have a 'type'");
  }
  ExperimentClass classes;
  classes.measure = item.at("measure").one_of(measures);
  classes.variant = item.at("variant").one_of(variants);
  classes.limit = item.at("below").number();
  const auto names = item.at("names").texts();
  if (names.size() != 2 || names[0] == names[1])
    item.at("names").refuse("two different names: for programs below the limit, and for the other programs");
  classes.below = names[0];
  classes.otherwise = names[1];
  if (item.has("near")) classes.near = item.at("near").number();
  if (item.has("apart")) {
    for (const Place& program : item.at("apart").items()) classes.apart.push_back(program.one_of(programs));
  }
  experiment.classes = classes;
}

void read_variants(const Place& place, Experiment& experiment) {
  std::set<std::string> names;
  for (const Place& item : place.at("variants").items()) {
    item.keys(experiment_form()["variant"]);
    const std::string name = item.at("name").text();
    must_be_new(names, name, item);
    experiment.variants.push_back(
        {name, item.text_of("label", name), read_overrides(item), item.text_of("config", experiment.config)});
  }
}

void read_measures(const Place& place, Experiment& experiment) {
  std::set<std::string> names;
  const bool kernels = std::any_of(experiment.programs.begin(), experiment.programs.end(),
                                   [](const ExperimentProgram& program) { return !program.kernel.empty(); });
  for (const Place& item : place.at("measures").items()) {
    experiment.measures.push_back(read_measure(item));
    must_be_new(names, experiment.measures.back().name, item);
    if (kernels) must_be_of_launches(item, experiment.measures.back());
  }
}

void read_comparisons(const Place& place, const Names& names, Experiment& experiment) {
  if (!place.has("comparisons")) return;
  for (const Place& item : place.at("comparisons").items()) {
    item.keys(experiment_form()["comparison"]);
    for (const Place& over : item.at("over").items()) {
      experiment.comparisons.push_back({item.at("measure").one_of(names.measures),
                                        item.at("variant").one_of(names.variants),
                                        over.one_of(names.variants)});
    }
  }
}

// The names that the claim's values must have.
std::set<std::string> names_of(const Claim& claim) {
  std::set<std::string> names;
  for (const auto& [above, below] : claim.above) names.insert({above, below});
  names.insert(claim.best.begin(), claim.best.end());
  for (const auto& [name, value] : claim.series) names.insert(name);
  return names;
}

// For a series over programs: the same of each of them.
void read_each(const Place& place, const Names& names, ClaimPlan& plan) {
  place.keys(experiment_form()["each program"]);
  for (const auto& [name, number] : plan.claim->series) {
    const std::string& wanted = name;
    if (std::none_of(names.programs.begin(), names.programs.end(),
                     [&](const Names::Program& program) { return program.abbr == wanted; })) {
      throw InputError(place.where(),
                       "the claim names '" + name + "', which is not a program of the experiment");
    }
    nlohmann::json value = place.value();
    value["programs"] = {name};
    plan.values.emplace(name, read_value(Place(value, place.where()), names));
  }
}

// The value of the claim of `plan`, or one for each name that it speaks of.
void read_finding(const Place& place, const Names& names, const ClaimPlan& plan, FindingPlan& finding) {
  const std::set<std::string> wanted = names_of(*plan.claim);
  const char* const key = wanted.empty() ? "value" : "values";
  if (!place.has(key) || place.has("value") == place.has("values"))
    throw InputError(place.where(), std::string("needs '") + key + "', and only one of 'value' and 'values'");
  if (wanted.empty()) {
    finding.value = read_value(place.at("value"), names);
    return;
  }
  for (const auto& [name, value] : place.at("values").members()) {
    const bool known = wanted.count(name) != 0 || plan.claim->type == ClaimType::kBest;
    if (!known) throw InputError(value.where(), "the claim does not name '" + name + "'");
    finding.values.emplace(name, read_value(value, names));
  }
  for (const std::string& name : wanted) {
    if (finding.values.count(name) == 0)
      throw InputError(place.at("values").where(), "'" + name + "' is missing; the claim names it");
  }
}

ClaimPlan read_claim_plan(const Place& place, const Names& names, const Claims& claims) {
  place.keys(experiment_form()["judged claim"]);
  ClaimPlan plan;
  plan.claim = claims.find(place.at("id").text());
  if (plan.claim == nullptr) place.at("id").refuse("the ID of a claim in claims.json");
  if (place.has("each")) {
    if (plan.claim->type != ClaimType::kSeries || place.has("value") || place.has("values"))
      throw InputError(place.where(), "'each' is allowed for a series only, without 'value' and 'values'");
    read_each(place.at("each"), names, plan);
    return plan;
  }
  read_finding(place, names, plan, plan);
  if (!place.has("readings")) return plan;
  for (const Place& item : place.at("readings").items()) {
    item.keys(experiment_form()["reading"]);
    ClaimPlan::Reading& reading = plan.readings.emplace_back();
    reading.name = item.at("name").text();
    read_finding(item, names, plan, reading);
  }
  return plan;
}

void read_claims_of(const Place& place, const Names& names, const Claims& claims, Experiment& experiment) {
  if (!place.has("claims")) return;
  std::set<std::string> ids;
  for (const Place& item : place.at("claims").items()) {
    experiment.claims.push_back(read_claim_plan(item, names, claims));
    const Claim& claim = *experiment.claims.back().claim;
    must_be_new(ids, claim.id, item);
    if (claim.paper != experiment.paper) item.at("id").refuse("a claim of the paper " + experiment.paper);
  }
}

void read_numbers(const Place& place, const Names& names, Experiment& experiment) {
  if (!place.has("numbers")) return;
  for (const Place& item : place.at("numbers").items()) {
    item.keys(experiment_form()["number"]);
    ExperimentNumber number;
    number.what = item.at("what").text();
    number.printed = item.text_of("printed");
    number.note = item.text_of("note");
    number.digits = item.digits_of(number.digits);
    number.value = read_value(item.at("value"), names);
    experiment.numbers.push_back(number);
  }
}

void read_tables(const Place& place, const Names& names, const Claims& claims, Experiment& experiment) {
  if (!place.has("tables")) return;
  for (const Place& item : place.at("tables").items()) {
    item.keys(experiment_form()["table"]);
    ExperimentTable table;
    table.title = item.at("title").text();
    table.about = item.text_of("about");
    table.variant = item.at("variant").one_of(names.variants);
    for (const Place& column : item.at("columns").items()) {
      column.keys(experiment_form()["table column"]);
      const Claim* claim = claims.find(column.at("printed").text());
      if (claim == nullptr || claim->type != ClaimType::kSeries || claim->paper != experiment.paper)
        column.at("printed").refuse("the ID of a series that " + experiment.paper + " prints");
      table.columns.push_back({column.at("measure").one_of(names.measures), claim});
    }
    experiment.tables.push_back(table);
  }
}

void read_prices(const Place& place, Experiment& experiment) {
  if (!place.has("prices")) return;
  const Place prices = place.at("prices");
  if (experiment.headline.empty())
    throw InputError(prices.where(), "needs 'headline', the claims to compute");
  prices.keys(experiment_form()["prices"]);
  experiment.priced = {"", prices.at("why").text(), {}, {}};
  for (const Place& item : prices.at("times").items()) {
    if (!(item.number() > 0 && item.number() <= 1000)) item.refuse("numbers above 0, up to 1000");
    experiment.price_times.push_back(item.number());
  }
}

// Another value of the key, alone or with other keys that are set along with it.
Sensitivity::Setting read_setting(const Sensitivity& of, const Place& place) {
  const bool along = place.value().is_object();
  if (along) place.keys(experiment_form()["values together"]);
  const Place value = along ? place.at("value") : place;
  if (value.value().is_structured() || value.value().is_null())
    value.refuse(along ? "a number, a word or true, false" : "a number, a word, true, false, or an object");
  Sensitivity::Setting setting;
  setting.overrides = {of.key + "=" + (value.value().is_string() ? value.text() : value.value().dump())};
  if (along) {
    if (is_about_prices(of)) place.refuse("a number, a word or true, false for a key of \"energy\"");
    for (const Place& other : place.at("with").items()) {
      check_override(other);
      setting.overrides.push_back(other.text());
    }
  }
  for (const std::string& one : setting.overrides)
    setting.name.append(setting.name.empty() ? "" : " ").append(one);
  return setting;
}

// The variants that a sensitivity concerns.
std::vector<std::string> read_concerned(const Place& place, const Experiment& experiment) {
  std::vector<std::string> known, concerned;
  for (const ExperimentVariant& variant : experiment.variants) known.push_back(variant.name);
  for (const Place& item : place.items()) concerned.push_back(item.one_of(known));
  return concerned;
}

void read_sensitivity(const Place& place, Experiment& experiment) {
  if (place.has("headline")) {
    std::vector<std::string> ids;
    for (const ClaimPlan& plan : experiment.claims) {
      if (plan.value) ids.push_back(plan.claim->id);
    }
    for (const Place& item : place.at("headline").items()) experiment.headline.push_back(item.one_of(ids));
  }
  if (!place.has("sensitivity")) return;
  if (experiment.headline.empty())
    throw InputError(place.at("sensitivity").where(), "needs 'headline', the claims to compute");
  std::set<std::string> keys, names;
  for (const Place& item : place.at("sensitivity").items()) {
    item.keys(experiment_form()["sensitivity"]);
    Sensitivity sensitivity{item.at("key").text(), item.at("why").text(), {}, {}};
    must_be_new(keys, sensitivity.key, item);
    for (const Place& value : item.at("values").items()) {
      sensitivity.settings.push_back(read_setting(sensitivity, value));
      must_be_new(names, sensitivity.settings.back().name, value);
    }
    if (item.has("variants")) sensitivity.variants = read_concerned(item.at("variants"), experiment);
    experiment.sensitivity.push_back(sensitivity);
  }
}

Names names_of(const Experiment& experiment, const Claims& claims) {
  Names names;
  if (experiment.classes) names.computed_types = {experiment.classes->below, experiment.classes->otherwise};
  for (const Claim& claim : claims.list) {
    if (claim.type == ClaimType::kSeries && claim.paper == experiment.paper)
      names.series[claim.id] = claim.series;
  }
  for (const auto& program : experiment.programs) names.programs.push_back({program.abbr, program.type});
  for (const auto& variant : experiment.variants) names.variants.push_back(variant.name);
  for (const auto& measure : experiment.measures) names.measures.push_back(measure.name);
  return names;
}

}  // namespace

const ExperimentVariant& Experiment::variant(const std::string& named) const {
  return *std::find_if(variants.begin(), variants.end(),
                       [&](const ExperimentVariant& variant) { return variant.name == named; });
}

const Measure& Experiment::measure(const std::string& named) const {
  return *std::find_if(measures.begin(), measures.end(),
                       [&](const Measure& measure) { return measure.name == named; });
}

void Experiment::each_value(const std::function<void(Value&)>& visit) {
  const auto visit_all = [&](FindingPlan& finding) {
    if (finding.value) visit(*finding.value);
    for (auto& [name, value] : finding.values) visit(value);
  };
  for (ClaimPlan& plan : claims) {
    visit_all(plan);
    for (ClaimPlan::Reading& reading : plan.readings) visit_all(reading);
  }
  for (ExperimentNumber& number : numbers) visit(number.value);
  for (Figure& figure : figures) figure.each_value(visit);
}

Experiment read_experiment(const ExperimentFile& file, const Claims& claims) {
  const nlohmann::json document = config::read_file(file.path);
  const Place place(document, file.path);
  place.keys(experiment_form()["experiment"]);
  Experiment experiment;
  experiment.name = file.name;
  experiment.file = file.path;
  experiment.title = place.at("title").text();
  experiment.paper = file.paper;
  experiment.place = place.at("place").text();
  experiment.config = place.at("config").text();
  experiment.about = place.text_of("about");
  experiment.overrides = read_overrides(place);
  read_programs(place, experiment);
  read_variants(place, experiment);
  read_measures(place, experiment);
  read_classes(place, experiment);
  const Names names = names_of(experiment, claims);
  read_comparisons(place, names, experiment);
  read_numbers(place, names, experiment);
  read_tables(place, names, claims, experiment);
  read_claims_of(place, names, claims, experiment);
  experiment.figures = read_figures(place, names, experiment);
  read_sensitivity(place, experiment);
  read_prices(place, experiment);
  return experiment;
}

}  // namespace weft::study
