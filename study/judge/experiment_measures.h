// What an experiment reads from a run: columns of `weft compare` and derived values (modules/measures) by
// name, anything else in stats.json and launches.csv by path; of the whole run or of the launches of one
// kernel.
#ifndef WEFT_STUDY_JUDGE_EXPERIMENT_MEASURES_H
#define WEFT_STUDY_JUDGE_EXPERIMENT_MEASURES_H

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "study/judge/comparison.h"
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

// A kind of event that takes energy (stats.json, energy.events), in a run or the launches of a kernel.
struct PricedEvent {
  double count = 0, picojoules = 0;  // of one
};

// A finished run as an experiment sees it.
struct RunResult {
  Row row;
  std::map<std::string, double> values;       // by measure; what the run does not have is missing
  std::string bound;                          // "bound by ..."; empty: the statistics do not say
  std::string missing;                        // why there are no values although the run ended well
  std::string folder;                         // of its results
  std::map<std::string, PricedEvent> events;  // empty: the run counted none
};

// `folder` has the run's results, if the row has measures. With a kernel, of the launches of that alone;
// what bounds a run is not told by kernel.
RunResult result_of(const Row& row, const std::string& folder, const std::vector<Measure>& measures,
                    const std::string& kernel = "");

}  // namespace weft::study

#endif
