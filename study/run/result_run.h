// Runs whose results lie in folders: what `weft report` and `weft annotate` read.
#ifndef WEFT_STUDY_RUN_RESULT_RUN_H
#define WEFT_STUDY_RUN_RESULT_RUN_H

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace weft::study {

// A run in time, on one GPU; of a CUDA program that reset its device, what came after the last reset.
struct ResultRun {
  std::string folder;
  nlohmann::ordered_json results;  // stats.json; of a CUDA program, its device's part of it, too
  nlohmann::ordered_json config;   // config.json, as it stands there
  const nlohmann::ordered_json& statistics() const { return results.at("statistics"); }
  std::string file(const std::string& name) const { return folder + "/" + name; }
  // The text of a file of the folder; nothing if there is none. Throws InputError if it cannot be read.
  std::optional<std::string> text(const std::string& name) const;
};

// Reads a JSON file. Throws InputError with the place if it is not one.
nlohmann::ordered_json read_json(const std::string& file);
// As read_json(); null: there is no such regular file, or it is no whole JSON.
nlohmann::ordered_json read_whole_json(const std::string& file);

// In the results of a CUDA program: what came after the last reset of its device stands beside what is of the
// whole program, as in those of `weft run`.
void take_last_device(nlohmann::ordered_json& results);

// The runs of a folder of `weft run`, `weft cuda` (--out) or `weft compare` (each of its runs that is
// finished). Throws InputError with what is wrong.
std::vector<ResultRun> runs_of(const std::string& folder);

}  // namespace weft::study

#endif
