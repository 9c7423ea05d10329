// The folder of experiments: papers with their claims, causes and experiments, the rules of verdicts, and
// groups.
//
//   const Library library = read_library(experiment_folder());
//   const Experiment experiment = library.read("harp-schemes");
//
// | file | what it has |
// | --- | --- |
// | library.json | the papers, and the rules of verdicts |
// | groups.json | groups of experiments (groups.h) |
// | area.json | arrays beside claims (study/page/area_printed.h) |
// | PAPER/claims.json, PAPER/causes.json | what a paper claims, and why a claim does not come out (claims.h)
// | | PAPER/NAME/experiment.json | an experiment, found by where it lies (experiment.h) |
#ifndef WEFT_STUDY_JUDGE_LIBRARY_H
#define WEFT_STUDY_JUDGE_LIBRARY_H

#include <string>
#include <vector>

#include "study/judge/claims.h"
#include "study/judge/experiment.h"
#include "study/judge/groups.h"

namespace weft::study {

struct Library {
  std::string folder;
  std::vector<ExperimentFile> experiments;  // papers in the order of library.json, by name within a paper
  Claims claims;                            // in the same order of papers
  Causes causes;
  ExperimentGroups groups;

  std::vector<std::string> names() const;  // of experiments
  bool has(const std::string& name) const;
  // The experiment of that name, which is there. The library must outlive it. Throws InputError.
  Experiment read(const std::string& name) const;
};

// Where experiments lie: $WEFT_EXPERIMENTS, or with the program.
std::string experiment_folder();

// All but the experiments' own files, of which only the places are looked up. Throws InputError.
Library read_library(const std::string& folder);

}  // namespace weft::study

#endif
