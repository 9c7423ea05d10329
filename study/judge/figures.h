// The figures of an experiment, drawn as in the paper: what stands in each bar or point, and what the paper
// prints of it, which is known from the experiment's claims. experiments/REFERENCE.md has the key `figures`.
#ifndef WEFT_STUDY_JUDGE_FIGURES_H
#define WEFT_STUDY_JUDGE_FIGURES_H

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "study/judge/claims.h"
#include "study/judge/value.h"

namespace weft::study {

struct Experiment;
class Results;

// A bar, a segment of a stacked bar, or a point of a line.
struct FigureCell {
  std::optional<Value> value;  // none: nothing stands here
  double times = 1;            // of the value
  const Claim* claim = nullptr;
  std::optional<double> printed;  // by `claim`
};

struct FigureSeries {
  std::string label;
  std::string bar;                // stacked: to whose bar this segment belongs
  std::vector<FigureCell> cells;  // one per group
};

// A place on the x axis: a program, a mean over programs, or a text of the figure's own.
struct FigureGroup {
  std::string label;
  std::string program;  // empty: none
  bool mean = false;
};

struct FigurePanel {
  std::string title, program;  // program: of which all of it is; empty: none
  std::vector<FigureGroup> groups;
  std::vector<FigureSeries> series;
};

struct Figure {
  enum class Kind : std::uint8_t { kBars, kStacked, kLines };
  Kind kind = Kind::kBars;
  std::string title, place, about, axis, x_axis;
  std::string slug;    // for names of files
  bool ratio = false;  // a line at 1
  bool logarithmic = false;
  bool kept = false;                         // drawn without being asked for: the figure of a headline
  std::string order_measure, order_variant;  // programs by this, ascending; empty: as the experiment has them
  std::vector<FigurePanel> panels;

  void each_value(const std::function<void(Value&)>& visit);
};

// The figures of `place`, the whole experiment, of which all else is read already. Throws InputError.
std::vector<Figure> read_figures(const Place& place, const Names& names, const Experiment& experiment);

// Everything that a drawing needs, as `figures` of NAME.json; `base` is NAME. What a slice does not have is
// left out, what a run does not have is null.
nlohmann::ordered_json figures_json(const Experiment& experiment, const Results& results,
                                    const std::string& base);

}  // namespace weft::study

#endif
