#include "study/judge/claims.h"

#include <algorithm>
#include <filesystem>

#include "common/config_document.h"
#include "study/judge/library_form.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

const std::vector<std::pair<std::string, ClaimType>>& types() {
  static const std::vector<std::pair<std::string, ClaimType>> list{
      {"ratio", ClaimType::kRatio},     {"change", ClaimType::kChange}, {"share", ClaimType::kShare},
      {"count", ClaimType::kCount},     {"amount", ClaimType::kAmount}, {"maximum", ClaimType::kMaximum},
      {"minimum", ClaimType::kMinimum}, {"bound", ClaimType::kBound},   {"range", ClaimType::kRange},
      {"order", ClaimType::kOrder},     {"best", ClaimType::kBest},     {"series", ClaimType::kSeries}};
  return list;
}

// Types of one value by which extremes and series are judged.
const std::vector<std::string> kSingle{"ratio", "share", "count", "amount"};

ClaimType type_of(const Place& place, const std::vector<std::string>& allowed) {
  const std::string name = place.one_of(allowed);
  return std::find_if(types().begin(), types().end(), [&](const auto& type) { return type.first == name; })
      ->second;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const auto& [name, type] : types()) names.push_back(name);
  return names;
}

void read_printed(const Place& printed, Claim& claim) {
  switch (claim.type) {
    case ClaimType::kRange: {
      const auto ends = printed.items();
      if (ends.size() != 2) printed.refuse("the two ends of a range");
      claim.low = ends[0].number();
      claim.high = ends[1].number();
      if (claim.low > claim.high) printed.refuse("the lower end first");
      break;
    }
    case ClaimType::kOrder:
      for (const Place& pair : printed.items()) {
        const auto names = pair.texts();
        if (names.size() != 2) pair.refuse("two names, the higher one first");
        claim.above.emplace_back(names[0], names[1]);
      }
      break;
    case ClaimType::kBest:
      claim.best = printed.texts();
      break;
    case ClaimType::kSeries:
      for (const auto& [name, value] : printed.members()) claim.series[name] = value.number();
      break;
    default:
      claim.number = printed.number();
  }
}

Claim read_claim(const Place& place, const std::string& paper) {
  place.keys(claims_form()["claim"]);
  Claim claim;
  claim.id = place.at("id").text();
  claim.paper = paper;
  claim.place = place.at("place").text();
  claim.type = type_of(place.at("type"), type_names());
  claim.as_printed = place.at("as_printed").text();
  claim.statement = place.at("statement").text();
  claim.program = place.text_of("program");
  claim.note = place.text_of("note");
  const auto needs = [&](const char* key, bool wanted) {
    if (place.has(key) == wanted) return;
    throw InputError(place.where(), std::string("'") + key + (wanted ? "' is missing" : "' is not allowed") +
                                        " for the type '" + place.at("type").text() + "'");
  };
  const bool extreme = claim.type == ClaimType::kMaximum || claim.type == ClaimType::kMinimum;
  needs("of", extreme || claim.type == ClaimType::kSeries);
  needs("relation", claim.type == ClaimType::kBound);
  if (place.has("of")) claim.of = type_of(place.at("of"), kSingle);
  if (place.has("relation")) claim.relation = place.at("relation").one_of({"below", "at most", "at least"});
  read_printed(place.at("printed"), claim);
  return claim;
}

bool is_there(const std::string& file) {
  std::error_code none;
  return std::filesystem::exists(file, none);
}

}  // namespace

const char* name_of(ClaimType type) {
  return std::find_if(types().begin(), types().end(), [&](const auto& one) { return one.second == type; })
      ->first.c_str();
}

const Claim* Claims::find(const std::string& id) const {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Claim& claim) { return claim.id == id; });
  return found == list.end() ? nullptr : &*found;
}

Rules read_rules(const Place& place) {
  place.keys(library_form()["rules"]);
  Rules rules;
  const std::vector<std::pair<std::string, double*>> numbers{{"third", &rules.third},
                                                             {"small_effect", &rules.small_effect},
                                                             {"least_effect", &rules.least_effect},
                                                             {"share_points", &rules.share_points},
                                                             {"count", &rules.count},
                                                             {"count_trend", &rules.count_trend},
                                                             {"near_best", &rules.near_best},
                                                             {"series", &rules.series},
                                                             {"series_rank", &rules.series_rank}};
  place.at("numbers").keys(library_form()["numbers of the rules"]);
  for (const auto& [name, target] : numbers) {
    const Place at = place.at("numbers").at(name);
    *target = at.number();
    if (*target <= 0 || *target >= 1) at.refuse("a number between 0 and 1");
  }
  place.at("types").keys(library_form()["rules by type"]);
  for (const auto& [name, rule] : place.at("types").members()) {
    rule.keys(library_form()["rule"]);
    for (const char* key : {"reproduced", "same_trend"}) rule.at(key).text();
  }
  return rules;
}

void read_claims(const std::string& file, const std::string& paper, Claims& claims) {
  if (!is_there(file)) return;
  const nlohmann::json document = config::read_file(file);
  for (const Place& item : Place(document, file).items(true)) {
    Claim claim = read_claim(item, paper);
    if (const Claim* const other = claims.find(claim.id))
      throw InputError(item.where(), "duplicate ID '" + claim.id + "', in the claims of " + other->paper);
    claims.list.push_back(std::move(claim));
  }
}

Causes read_causes(const std::string& file, const std::string& paper, const Claims& claims) {
  Causes causes;
  if (!is_there(file)) return causes;
  const nlohmann::json document = config::read_file(file);
  if (document.is_object() && document.empty()) return causes;
  const Place place(document, file);
  for (const auto& [id, item] : place.members()) {
    const Claim* const claim = claims.find(id);
    if (claim == nullptr || claim->paper != paper)
      throw InputError(item.where(), paper + " has no claim '" + id + "'");
    item.keys(causes_form()["cause"]);
    causes[id] = {item.at("cause").one_of({"mechanism", "machine", "program"}), item.at("text").text(),
                  item.at("counter").text(), item.at("run").text()};
  }
  return causes;
}

}  // namespace weft::study
