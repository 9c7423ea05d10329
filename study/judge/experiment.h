// An experiment: experiments/PAPER/NAME/experiment.json, whose keys experiments/REFERENCE.md describes.
#ifndef WEFT_STUDY_JUDGE_EXPERIMENT_H
#define WEFT_STUDY_JUDGE_EXPERIMENT_H

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/judge/claims.h"
#include "study/judge/experiment_measures.h"
#include "study/judge/figures.h"
#include "study/judge/value.h"
#include "study/plan/plan.h"

namespace weft::study {

struct ExperimentProgram {
  std::string abbr, workload, size, type;
  // A program of one's own: `workload` is the name of its file, and there is no size.
  Run::Kind kind = Run::Kind::kWorkload;
  std::string file, key;
  Words arguments;     // as of Run, and the two before
  std::string kernel;  // of the workload, whose launches alone count; empty: the whole run
  std::vector<std::string> overrides;
  // Of CPU, about, for its part of a run on the machine as it is: for the order of runs and the time that is
  // left, before a run has told.
  std::optional<double> seconds;

  bool is_own() const { return kind != Run::Kind::kWorkload; }
};

struct ExperimentVariant {
  std::string name, label;
  std::vector<std::string> overrides;
  std::string config;  // its machine: the experiment's, unless it has its own
};

// Per program, the ratio of a measure under `variant` to that under each of `over`, with means.
struct Ratio {
  std::string measure, variant, over;
};

// The type of a program is one of two names, by a measure of its runs.
struct ExperimentClass {
  std::string measure, variant;
  double limit = 0;
  std::string below, otherwise;    // the types
  double near = 0;                 // programs so near to the limit might as well be of the other type
  std::vector<std::string> apart;  // programs without which the means are given, too
};

// A number that the page shows beside what is printed, and that is no claim.
struct ExperimentNumber {
  std::string what, printed, note;
  int digits = 3;
  Value value;
};

// Ours beside printed, per program: a series of claims in each column.
struct ExperimentTable {
  std::string title, about, variant;
  struct Column {
    std::string measure;
    const Claim* printed = nullptr;
  };
  std::vector<Column> columns;
};

// How what is found beside a claim comes out of the runs.
struct FindingPlan {
  std::optional<Value> value;
  std::map<std::string, Value> values;  // order, best, series: by name
};

struct ClaimPlan : FindingPlan {
  const Claim* claim = nullptr;
  // Other readings of what the paper does not print, as the kind of mean.
  struct Reading : FindingPlan {
    std::string name;
  };
  std::vector<Reading> readings;
};

// A value of the machine that the paper does not print, and what else it might have been.
struct Sensitivity {
  struct Setting {
    std::string name;                    // its overrides with a space between them
    std::vector<std::string> overrides;  // "key=value", and what is set along with it
  };
  std::string key, why;
  std::vector<Setting> settings;
  std::vector<std::string> variants;  // for which it changes; empty: for all

  bool concerns(const std::string& variant) const {
    return variants.empty() || std::find(variants.begin(), variants.end(), variant) != variants.end();
  }
};

struct Experiment {
  std::string name, file, title, paper, place, config, about;
  std::vector<std::string> overrides;
  std::vector<ExperimentProgram> programs;
  std::vector<ExperimentVariant> variants;
  std::vector<Measure> measures;
  std::vector<Ratio> comparisons;
  std::optional<ExperimentClass> classes;
  std::vector<ExperimentNumber> numbers;
  std::vector<ExperimentTable> tables;
  std::vector<Figure> figures;
  std::vector<ClaimPlan> claims;
  std::vector<std::string> headline;  // IDs of the claims that --sensitivity looks at
  std::vector<Sensitivity> sensitivity;
  // "prices": the headline with each event's energy so many times as high. `priced` has why.
  std::vector<double> price_times;
  Sensitivity priced;

  const ExperimentVariant& variant(const std::string& named) const;  // which is there
  const Measure& measure(const std::string& named) const;
  // Every value that claims, numbers and figures are made of.
  void each_value(const std::function<void(Value&)>& visit);
};

// Where an experiment lies: its folder and that of its paper name it (library.h).
struct ExperimentFile {
  std::string name, paper, path;
};

// `claims` must outlive it. Throws InputError.
Experiment read_experiment(const ExperimentFile& file, const Claims& claims);

}  // namespace weft::study

#endif
