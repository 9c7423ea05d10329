// Numbers of a finished run, by key. Measures are made of them, and `weft reproduce` keeps them
// (results_data.h). So a page comes out of a run and of its stored numbers in the same way.
//
// A key is one of
//   sm*.memory.l1d.hits              a counter of modules/measures, of all instances together
//   sm.memory.l1d.hits               a path that an experiment has, likewise
//   /cycles                          a number of stats.json, as a JSON pointer
//   value simd_efficiency            a derived value, if stats.json does not have its counters
//   launches.l1d_hits                a column of launches.csv, of the launches that count together
//   compare.energy_mj                a column of `weft compare`
//   largest sm.warp_formation.lats   the largest of the instances
#ifndef WEFT_STUDY_JUDGE_RUN_NUMBERS_H
#define WEFT_STUDY_JUDGE_RUN_NUMBERS_H

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft::study {

struct Measure;

using Numbers = std::map<std::string, double>;

// A key of stored numbers under today's name (renames.h).
std::string key_of_today(const std::string& key);

// What counts of a run: all of it, or the launches of one kernel.
enum class Extent { kRun, kKernel };

// Adds the keys of which the measure is made.
void add_keys(const Measure& measure, Extent extent, std::set<std::string>& keys);
// Adds the keys of all derived values.
void add_keys_of_rows(Extent extent, std::set<std::string>& keys);

// None if the run lacks a number of which the measure is made, or there is nothing to have a share of.
std::optional<double> value_of(const Measure& measure, Extent extent, const Numbers& numbers);

// All paths of the measure, as an experiment's file has them.
std::vector<std::string> paths_of(const Measure& measure);
bool is_of_launches(const std::string& path);

// Names that a measure without paths may have.
std::vector<std::string> measure_names();
// ... where there are programs with a kernel.
std::vector<std::string> measure_names_of_launches();

// The energy of a kind of event (stats.json, energy.events), in a run or the launches of a kernel.
struct PricedEvent {
  double count = 0, picojoules = 0;  // of one
};

// What is read of a run.
struct Wanted {
  std::set<std::string> keys;
  std::string kernel;               // empty: the whole run
  bool events = false;              // of energy
  std::vector<std::string> prices;  // settings, "energy.node=28", under which each event is priced, too
};
struct RunReading {
  Numbers numbers;                            // what the run does not have is missing
  std::string bound;                          // "bound by ..."; empty: the statistics do not say
  std::string missing;                        // why there are no numbers although the run ended well
  std::map<std::string, PricedEvent> events;  // empty: the run counted none
  // Picojoules of an event, by setting.
  std::map<std::string, std::map<std::string, double>> prices;
};
// From the folder of a run that ended well. Throws InputError.
RunReading read_run(const std::string& folder, const Wanted& wanted);

}  // namespace weft::study

#endif
