// How a number comes out of the runs of an experiment, as its file says:
//
//   {"measure": "speed", "variant": "harp", "over": "sbr", "mean": "harmonic", "types": ["A", "B"]}
//   {"measure": "lane_activity", "variant": "lwm", "programs": ["MU"]}
//   {"difference": [V, V]}, {"quotient": [V, V]}, {"distance": [V, V]}, {"average": [V, ...]},
//   {"largest": [V, ...]}, {"smallest": [V, ...]}, {"wins": "w64", "against": ["w8", "w16"], "measure":
//   "coalescing_rate"}, {"count": "above", "limit": 7, "measure": "lanes_static", "variant": "tsimt"},
//   {"rank_correlation": "ID of a series", "measure": "lanes_static", "variant": "tsimt"},
//   {"first": "above", "limit": 7.84, "measure": "ipc", "variant": "simt", "of": {"W1-32": 1, "W2-32": 2}}
#ifndef WEFT_STUDY_JUDGE_VALUE_H
#define WEFT_STUDY_JUDGE_VALUE_H

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "study/plan/place.h"

namespace weft::study {

enum class Mean { kNone, kHarmonic, kGeometric, kArithmetic, kMaximum, kMinimum, kSum, kZeros };

struct Value {
  enum class Kind {
    kMeasure,
    kDifference,
    kQuotient,
    kDistance,
    kAverage,
    kLargest,
    kSmallest,
    kWins,
    kAbove,  // of how many programs the value is above `limit`, or below
    kBelow,
    kRankCorrelation,  // with `printed`, over the programs that stand there
    kFirstAbove,       // the least number in `numbers` whose program's value is above `limit`, or below
    kFirstBelow
  };
  Kind kind = Kind::kMeasure;
  std::vector<Value> parts;
  std::string measure, variant, over;  // over: each program's value is the ratio of the two variants
  std::vector<std::string> against;    // wins: of how many programs `variant` has the highest value
  Mean mean = Mean::kNone;             // none: of a single program
  std::vector<std::string> programs;   // all that count, by abbreviation
  // Where types are computed from the runs: those that count; empty: all (settle_types).
  std::vector<std::string> types;
  double limit = 0;
  std::map<std::string, double> printed;  // by program
  std::map<std::string, double> numbers;  // likewise
};

// What values may speak of.
struct Names {
  struct Program {
    std::string abbr, type;
  };
  std::vector<Program> programs;
  std::vector<std::string> variants, measures;
  std::vector<std::string> computed_types;  // that programs turn out to have
  // What is printed by program, by the claim's ID.
  std::map<std::string, std::map<std::string, double>> series;
};
Value read_value(const Place& place, const Names& names);

struct Answer {
  double number = 0;
  std::string program;  // of a maximum, a minimum or a single program
};
// The value of a measure in a run, if it is there.
using Lookup = std::function<std::optional<double>(const std::string& measure, const std::string& variant,
                                                   const std::string& program)>;
// Of one program, before a mean or a count is made of all: its measure, or the ratio of two variants.
std::optional<double> program_value(const Value& value, const Lookup& at, const std::string& program);
// None if a run or a measure that it needs is missing.
std::optional<Answer> evaluate(const Value& value, const Lookup& at);

// None of an empty list, and harmonic and geometric ones of numbers that are not all positive.
std::optional<double> mean_of(Mean mean, const std::vector<double>& numbers);

// Leaves the programs whose type, by abbreviation, is one that the value speaks of. A program whose type is
// not there stays, and with it, as its runs are missing, the whole value.
void settle_types(const std::map<std::string, std::string>& type_of, Value& value);

// Whether types that are computed from runs choose its programs, or those of a part.
bool speaks_of_types(const Value& value);

// Leaves only these programs.
void restrict_to(const std::vector<std::string>& programs, Value& value);

// Adds each measure that the value speaks of.
void measures_of(const Value& value, std::set<std::string>& measures);

// Each variant that the value speaks of, once.
void variants_of(const Value& value, std::vector<std::string>& variants);

}  // namespace weft::study

#endif
