// What an experiment reads from a run: columns of `weft compare` and derived values (modules/measures) by
// name, anything else in stats.json and launches.csv by path; of the whole run or of the launches of one
// kernel.
#ifndef WEFT_STUDY_JUDGE_EXPERIMENT_MEASURES_H
#define WEFT_STUDY_JUDGE_EXPERIMENT_MEASURES_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "study/judge/run_numbers.h"
#include "study/plan/place.h"

namespace weft::study {

struct Measure {
  std::string name, heading;
  int digits = 3;
  // With paths, these: the sum of what `sum` names, over that of `over` or times that of `times` if there is
  // one, times `factor`; the largest of the instances that `largest` names; or how many of `zeros` are 0. A
  // path is a JSON pointer into stats.json ("/idle_share"), steps with dots into its statistics
  // ("sm.memory.l1d.hits": of all SMs), or a column of launches.csv ("launches.l1d_hits": of all launches).
  // Without: a column of the comparison, or "speed".
  std::vector<std::string> sum, over, times, zeros;
  double factor = 1;
  std::string largest;
};

// A name, or an object with name, heading, digits and paths.
Measure read_measure(const Place& place);
// Whether it goes with the energy: of all events together, over or times something else.
bool is_energy(const Measure& measure);
// Refuses a measure that is known of whole runs only.
void must_be_of_launches(const Place& place, const Measure& measure);

// A run as an experiment sees it.
struct RunResult {
  int exit_code = 0;
  std::string result;  // "verified", or why not
  std::string build;   // of Weft that made it
  std::string work;    // what ran (Run::work)
  // Effective configuration, JSON; empty: there are no numbers.
  std::shared_ptr<const std::string> machine;
  RunReading reading;                    // empty for a run that did not end well
  std::map<std::string, double> values;  // by measure; what the run does not have is missing
};

// Computes the values from the numbers.
void set_values(const std::vector<Measure>& measures, Extent extent, RunResult& result);

}  // namespace weft::study

#endif
