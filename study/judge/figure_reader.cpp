// The key `figures` of an experiment.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "study/judge/experiment.h"
#include "study/judge/experiment_form.h"
#include "study/judge/figures.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

const std::map<std::string, Figure::Kind> kFigureKinds{
    {"bars", Figure::Kind::kBars}, {"lines", Figure::Kind::kLines}, {"stacked", Figure::Kind::kStacked}};

const std::map<std::string, std::string> kMeanLabels{
    {"arithmetic", "mean"}, {"geometric", "gmean"}, {"harmonic", "hmean"}, {"maximum", "max"},
    {"minimum", "min"},     {"sum", "sum"},         {"zeros", "zeros"}};

// What claims.json has where the paper prints no number.
constexpr const char* kNoNumber = "in words";

std::string slug_of(const std::string& title) {
  std::string slug;
  for (const char c : title) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug;
}

bool same(const Value& a, const Value& b) {
  const auto as_set = [](const std::vector<std::string>& list) {
    return std::set<std::string>(list.begin(), list.end());
  };
  return a.kind == b.kind && a.measure == b.measure && a.variant == b.variant && a.over == b.over &&
         a.mean == b.mean && a.limit == b.limit && a.numbers == b.numbers && a.printed == b.printed &&
         as_set(a.programs) == as_set(b.programs) && as_set(a.types) == as_set(b.types) &&
         as_set(a.against) == as_set(b.against) &&
         std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), same);
}

bool is_extreme(const Value& value) {
  return value.mean == Mean::kMaximum || value.mean == Mean::kMinimum;
}

// The number that the claim prints of this value, if it does.
std::optional<double> printed_by(const ClaimPlan& plan, const Value& value) {
  const Claim& claim = *plan.claim;
  if (claim.as_printed == kNoNumber) return {};
  switch (claim.type) {
    case ClaimType::kRatio:
    case ClaimType::kChange:
    case ClaimType::kShare:
    case ClaimType::kCount:
    case ClaimType::kAmount:
      break;
    case ClaimType::kMaximum:
    case ClaimType::kMinimum:
      // The program that the paper names has the extreme.
      if (plan.value && is_extreme(*plan.value) && !claim.program.empty() && value.mean == Mean::kNone) {
        Value of_program = *plan.value;
        of_program.mean = Mean::kNone;
        of_program.programs = {claim.program};
        of_program.types.clear();
        if (same(of_program, value)) return claim.number;
      }
      break;
    case ClaimType::kSeries:
      for (const auto& [name, one] : plan.values) {
        if (same(one, value)) return claim.series.at(name);
      }
      return {};
    default:
      return {};
  }
  if (plan.value && same(*plan.value, value)) return claim.number;
  return {};
}

// A variant as a figure draws it.
struct Drawn {
  std::string variant, over, label;
  std::vector<std::string> measures;
};

struct DrawnMean {
  nlohmann::json value;  // its part of a value
  std::string label;
};

class FigureReader {
 public:
  FigureReader(const Place& place, const Names& names, const Experiment& experiment)
      : place_(place), names_(names), experiment_(experiment) {}

  Figure read() {
    place_.keys(experiment_form()["figure"]);
    figure_.title = place_.at("title").text();
    figure_.slug = slug_of(figure_.title);
    if (figure_.slug.empty()) place_.at("title").refuse("text with a letter or a digit");
    figure_.place = place_.at("place").text();
    figure_.about = place_.text_of("about");
    if (place_.has("kind"))
      figure_.kind = kFigureKinds.at(place_.at("kind").one_of({"bars", "lines", "stacked"}));
    if (place_.has("scale")) figure_.logarithmic = place_.at("scale").one_of({"linear", "log"}) == "log";
    if (place_.has("kept")) {
      if (!place_.at("kept").value().is_boolean()) place_.at("kept").refuse("true or false");
      figure_.kept = place_.at("kept").value().get<bool>();
    }
    read_measures();
    if (place_.has("over")) over_ = place_.at("over").one_of(names_.variants);
    read_programs();
    read_means();
    read_order();
    if (place_.has("x") || place_.has("series")) {
      read_grid();
    } else {
      read_variants();
    }
    mark();
    figure_.axis = place_.text_of("axis", figure_.axis);
    figure_.x_axis = place_.text_of("x_axis");
    return std::move(figure_);
  }

 private:
  void read_measures() {
    const bool stacked = figure_.kind == Figure::Kind::kStacked;
    if (place_.has("measure") && place_.has("measures"))
      throw InputError(place_.where(), "found both 'measure' and 'measures'; allowed: one of the two");
    if (place_.has("measure")) measures_ = {place_.at("measure").one_of(names_.measures)};
    if (!place_.has("measures")) return;
    if (!stacked) throw InputError(place_.where(), "'measures' is allowed for the kind 'stacked' only");
    for (const Place& item : place_.at("measures").items()) measures_.push_back(item.one_of(names_.measures));
  }

  void read_programs() {
    std::vector<std::string> all;
    for (const auto& program : names_.programs) all.push_back(program.abbr);
    if (!place_.has("programs")) {
      if (!place_.has("x")) programs_ = all;
      return;
    }
    for (const Place& item : place_.at("programs").items()) programs_.push_back(item.one_of(all));
  }

  void read_means() {
    if (!place_.has("means")) return;
    std::vector<std::string> kinds;
    for (const auto& [name, label] : kMeanLabels) kinds.push_back(name);
    for (const Place& item : place_.at("means").items()) {
      DrawnMean mean;
      if (item.value().is_object()) {
        item.keys(experiment_form()["mean of some"]);
        mean.value["mean"] = item.at("mean").one_of(kinds);
        std::string types;
        for (const char* key : {"types", "programs"}) {
          if (item.has(key)) mean.value[key] = item.value().at(key);
        }
        if (item.has("types")) types = " " + joined(item.at("types").texts());
        mean.label = item.text_of("label", kMeanLabels.at(mean.value.at("mean")) + types);
      } else {
        mean.value["mean"] = item.one_of(kinds);
        mean.label = kMeanLabels.at(mean.value.at("mean"));
        // Of the programs that are drawn.
        if (place_.has("programs") && !place_.has("x")) mean.value["programs"] = programs_;
      }
      means_.push_back(std::move(mean));
    }
  }

  void read_order() {
    if (!place_.has("order")) return;
    const Place order = place_.at("order");
    order.keys(experiment_form()["order"]);
    figure_.order_measure = order.at("measure").one_of(names_.measures);
    figure_.order_variant = order.at("variant").one_of(names_.variants);
  }

  Drawn read_drawn(const Place& item) const {
    Drawn drawn{"", over_, "", measures_};
    if (!item.value().is_object()) {
      drawn.variant = item.one_of(names_.variants);
    } else {
      item.keys(experiment_form()["drawn variant"]);
      drawn.variant = item.at("variant").one_of(names_.variants);
      if (item.has("over")) drawn.over = item.at("over").one_of(names_.variants);
      if (item.has("measure")) drawn.measures = {item.at("measure").one_of(names_.measures)};
      if (item.has("measures")) {
        if (figure_.kind != Figure::Kind::kStacked)
          item.at("measures").refuse("'measures' for the kind 'stacked' only");
        drawn.measures.clear();
        for (const Place& measure : item.at("measures").items())
          drawn.measures.push_back(measure.one_of(names_.measures));
      }
    }
    if (drawn.measures.empty())
      throw InputError(item.where(), "'measure' is missing, here and for the figure");
    drawn.label = experiment_.variant(drawn.variant).label;
    if (drawn.over != over_) drawn.label += " : " + experiment_.variant(drawn.over).label;
    if (item.value().is_object()) drawn.label = item.text_of("label", drawn.label);
    return drawn;
  }

  // What the axis is called, and whether it has ratios.
  void name_axis(const std::vector<Drawn>& all) {
    std::set<std::string> measures, overs;
    for (const Drawn& drawn : all) {
      measures.insert(drawn.measures.begin(), drawn.measures.end());
      overs.insert(drawn.over);
    }
    figure_.ratio = overs.count("") == 0;
    if (measures.size() == 1) figure_.axis = experiment_.measure(*measures.begin()).heading;
    if (!figure_.ratio) return;
    figure_.axis += figure_.axis.empty() ? "" : overs.size() == 1 ? " " : ", ";
    figure_.axis += overs.size() == 1 ? "over " + experiment_.variant(*overs.begin()).label : "ratio";
  }

  Value value_of(const std::string& measure, const std::string& variant, const nlohmann::json& of) const {
    nlohmann::json json = of;
    json["measure"] = measure;
    json["variant"] = variant;
    return read_value(Place(json, place_.where()), names_);
  }

  // A segment over another variant is so much of that one's whole bar; a mean of it is the ratio of means.
  FigureCell cell_of(const Drawn& drawn, const std::string& measure, nlohmann::json of) const {
    FigureCell cell;
    if (figure_.kind != Figure::Kind::kStacked || drawn.over.empty()) {
      if (!drawn.over.empty()) of["over"] = drawn.over;
      cell.value = value_of(measure, drawn.variant, of);
      return cell;
    }
    Value whole, part;
    whole.kind = Value::Kind::kAverage;
    for (const std::string& one : drawn.measures) whole.parts.push_back(value_of(one, drawn.over, of));
    part.kind = Value::Kind::kQuotient;
    part.parts = {value_of(measure, drawn.variant, of), whole};
    cell.times = 1.0 / static_cast<double>(drawn.measures.size());
    cell.value = std::move(part);
    return cell;
  }

  static nlohmann::json of_program(const std::string& program) { return {{"programs", {program}}}; }

  // Programs and means on the x axis, a series per variant.
  void read_variants() {
    if (figure_.kind == Figure::Kind::kLines)
      throw InputError(place_.where(), "needs 'x' and 'series': lines cannot connect programs");
    std::vector<Drawn> all;
    if (place_.has("variants")) {
      for (const Place& item : place_.at("variants").items()) all.push_back(read_drawn(item));
    } else {
      if (measures_.empty()) throw InputError(place_.where(), "'measure' is missing");
      for (const ExperimentVariant& variant : experiment_.variants)
        all.push_back({variant.name, over_, variant.label, measures_});
    }
    name_axis(all);
    FigurePanel panel;
    for (const std::string& program : programs_) panel.groups.push_back({program, program, false});
    for (const DrawnMean& mean : means_) panel.groups.push_back({mean.label, "", true});
    const bool stacked = figure_.kind == Figure::Kind::kStacked;
    for (const Drawn& drawn : all) {
      for (const std::string& measure : drawn.measures) {
        FigureSeries series;
        series.label = stacked ? experiment_.measure(measure).heading : drawn.label;
        if (stacked) series.bar = drawn.label;
        for (const std::string& program : programs_)
          series.cells.push_back(cell_of(drawn, measure, of_program(program)));
        for (const DrawnMean& mean : means_) series.cells.push_back(cell_of(drawn, measure, mean.value));
        panel.series.push_back(std::move(series));
      }
    }
    figure_.panels.push_back(std::move(panel));
  }

  // Texts on the x axis; a panel for each program and mean, for each variant, or one of values.
  void read_grid() {
    if (!place_.has("x") || !place_.has("series"))
      throw InputError(place_.where(), "found only one of 'x' and 'series'; allowed: both or none");
    if (place_.has("order")) throw InputError(place_.where(), "'order' is not allowed with 'x' and 'series'");
    if (figure_.kind == Figure::Kind::kStacked)
      throw InputError(place_.where(), "'x' and 'series' are allowed for the kinds 'bars' and 'lines' only");
    const auto texts = place_.at("x").texts();
    const std::string key = read_points();
    if (key == "values") {
      refuse_keys({"measure", "over", "variants", "programs", "means"}, key);
      figure_.panels.push_back(panel_of(texts));
      add_values(figure_.panels.back());
      return;
    }
    std::vector<Drawn> all;
    if (key == "programs") {
      refuse_keys({"programs", "means"}, key);
      if (!place_.has("variants")) throw InputError(place_.where(), "needs 'variants' for the panels");
      for (const Place& item : place_.at("variants").items()) {
        all.push_back(read_drawn(item));
        figure_.panels.push_back(panel_of(texts));
        figure_.panels.back().title = all.back().label;
        add_programs(figure_.panels.back(), all.back());
      }
      name_axis(all);
      return;
    }
    refuse_keys({"variants"}, key);
    if (programs_.empty() && means_.empty())
      throw InputError(place_.where(), "needs 'programs' or 'means' for the panels");
    for (const std::string& program : programs_) {
      figure_.panels.push_back(panel_of(texts));
      figure_.panels.back().title = figure_.panels.back().program = program;
      add_variants(figure_.panels.back(), of_program(program), all);
    }
    for (const DrawnMean& mean : means_) {
      figure_.panels.push_back(panel_of(texts));
      figure_.panels.back().title = programs_.empty() && means_.size() == 1 ? "" : mean.label;
      add_variants(figure_.panels.back(), mean.value, all);
    }
    name_axis(all);
    if (programs_.empty() && means_.size() == 1) figure_.axis += " (" + means_.front().label + ")";
  }

  // Which key the points of all series stand in.
  std::string read_points() const {
    const std::vector<std::string> keys{"variants", "programs", "values"};
    std::string first;
    for (const Place& item : place_.at("series").items()) {
      item.keys(experiment_form()["series"]);
      if (item.value().size() != 2) throw InputError(item.where(), "needs one of " + joined(keys));
      const auto found =
          std::find_if(keys.begin(), keys.end(), [&](const std::string& key) { return item.has(key); });
      if (first.empty()) first = *found;
      if (*found != first)
        throw InputError(item.where(), "found '" + *found + "'; allowed: '" + first + "', as the first has");
    }
    return first;
  }

  void refuse_keys(const std::vector<std::string>& keys, const std::string& points) const {
    for (const std::string& key : keys) {
      if (place_.has(key))
        throw InputError(place_.where(), "'" + key + "' is not allowed if series have '" + points + "'");
    }
  }

  void add_programs(FigurePanel& panel, const Drawn& drawn) const {
    std::vector<std::string> known;
    for (const auto& program : names_.programs) known.push_back(program.abbr);
    for (const Place& item : place_.at("series").items()) {
      FigureSeries series{item.at("label").text(), "", {}};
      for (const Place& point : points(item.at("programs"), panel)) {
        series.cells.emplace_back();
        if (point.value().is_null()) continue;
        series.cells.back() = cell_of(drawn, drawn.measures.front(), of_program(point.one_of(known)));
      }
      panel.series.push_back(std::move(series));
    }
  }

  static FigurePanel panel_of(const std::vector<std::string>& texts) {
    FigurePanel panel;
    for (const std::string& text : texts) panel.groups.push_back({text, "", false});
    return panel;
  }

  // As many as there are texts on the x axis.
  std::vector<Place> points(const Place& place, const FigurePanel& panel) const {
    auto list = place.items();
    if (list.size() != panel.groups.size())
      throw InputError(place.where(), "found " + std::to_string(list.size()) +
                                          " entries; allowed: " + std::to_string(panel.groups.size()) +
                                          ", the number of entries of 'x'");
    return list;
  }

  void add_variants(FigurePanel& panel, const nlohmann::json& of, std::vector<Drawn>& all) const {
    for (const Place& item : place_.at("series").items()) {
      FigureSeries series{item.at("label").text(), "", {}};
      for (const Place& point : points(item.at("variants"), panel)) {
        if (point.value().is_null()) {
          series.cells.emplace_back();
          continue;
        }
        all.push_back(read_drawn(point));
        series.cells.push_back(cell_of(all.back(), all.back().measures.front(), of));
      }
      panel.series.push_back(std::move(series));
    }
  }

  void add_values(FigurePanel& panel) {
    bool ratio = true;
    for (const Place& item : place_.at("series").items()) {
      FigureSeries series{item.at("label").text(), "", {}};
      for (const Place& point : points(item.at("values"), panel)) {
        FigureCell cell;
        if (point.value().is_object() && point.has("claim")) {
          cell.value = value_of_claim(point);
        } else if (!point.value().is_null()) {
          cell.value = read_value(point, names_);
        }
        if (cell.value) {
          const bool quotient = cell.value->kind == Value::Kind::kQuotient;
          ratio = ratio && (quotient || !cell.value->over.empty());
        }
        series.cells.push_back(std::move(cell));
      }
      panel.series.push_back(std::move(series));
    }
    figure_.ratio = ratio;
    if (!place_.has("axis")) throw InputError(place_.where(), "'axis', the title of the values, is missing");
  }

  Value value_of_claim(const Place& point) const {
    point.keys(experiment_form()["value of a claim"]);
    for (const ClaimPlan& plan : experiment_.claims) {
      if (plan.claim->id != point.value().at("claim")) continue;
      if (plan.value && !point.has("name")) return *plan.value;
      std::vector<std::string> known;
      for (const auto& [name, value] : plan.values) known.push_back(name);
      if (plan.value || !point.has("name"))
        throw InputError(point.where(), plan.value ? "'name' is not allowed: the claim has one value"
                                                   : "'name' is missing; allowed: " + joined(known));
      return plan.values.at(point.at("name").one_of(known));
    }
    point.at("claim").refuse("the ID of a claim of this experiment");
  }

  // What the text prints of a cell comes from the claims.
  void mark() {
    for (FigurePanel& panel : figure_.panels) {
      for (FigureSeries& series : panel.series) {
        for (FigureCell& cell : series.cells) {
          if (!cell.value || cell.times != 1) continue;
          for (const ClaimPlan& plan : experiment_.claims) {
            cell.printed = printed_by(plan, *cell.value);
            cell.claim = cell.printed ? plan.claim : nullptr;
            if (cell.printed) break;
          }
        }
      }
    }
  }

  const Place place_;
  const Names& names_;
  const Experiment& experiment_;
  Figure figure_;
  std::string over_;
  std::vector<std::string> measures_, programs_;
  std::vector<DrawnMean> means_;
};

}  // namespace

std::vector<Figure> read_figures(const Place& place, const Names& names, const Experiment& experiment) {
  std::vector<Figure> figures;
  if (!place.has("figures")) return figures;
  std::set<std::string> slugs;
  for (const Place& item : place.at("figures").items()) {
    figures.push_back(FigureReader(item, names, experiment).read());
    if (!slugs.insert(figures.back().slug).second)
      throw InputError(item.where(), "duplicate file name for figure '" + figures.back().title +
                                         "'; allowed: another title");
  }
  return figures;
}

}  // namespace weft::study
