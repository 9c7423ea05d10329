// Experiments that tests write: a paper, its claims and its experiments.
#ifndef WEFT_TESTS_END_TO_END_EXPERIMENTS_H
#define WEFT_TESTS_END_TO_END_EXPERIMENTS_H

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "folder.h"

namespace weft::end_to_end {

inline nlohmann::ordered_json claim(const std::string& id, const std::string& type,
                                    const nlohmann::ordered_json& printed) {
  return {{"id", id},           {"place", "1"},      {"type", type},
          {"printed", printed}, {"as_printed", "x"}, {"statement", "s"}};
}

// library.json with a paper, and the rules of the project.
inline nlohmann::ordered_json library_file() {
  nlohmann::ordered_json json{{"papers", {{{"name", "P"}, {"folder", "p"}, {"title", "a paper"}}}},
                              {"rules",
                               {{"numbers",
                                 {{"third", 0.333},
                                  {"small_effect", 0.03},
                                  {"least_effect", 0.01},
                                  {"share_points", 0.05},
                                  {"count", 0.2},
                                  {"count_trend", 0.5},
                                  {"near_best", 0.03},
                                  {"series", 0.8},
                                  {"series_rank", 0.6}}},
                                {"verdicts", {"reproduced"}},
                                {"causes", {"machine"}},
                                {"depends_on_unprinted", "x"}}}};
  for (const char* type : {"ratio", "change", "share", "count", "amount", "maximum", "minimum", "bound",
                           "range", "order", "best", "series"})
    json["rules"]["types"][type] = {{"reproduced", "x"}, {"same_trend", "x"}};
  return json;
}

// Experiments of the test's own, of a paper P: WEFT_EXPERIMENTS while they live.
class Experiments {
 public:
  Experiments() {
    setenv("WEFT_EXPERIMENTS", folder_.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
    std::filesystem::create_directory(folder_.path("p"));
    write("library.json", library_file());
  }
  ~Experiments() {
    unsetenv("WEFT_EXPERIMENTS");  // NOLINT(concurrency-mt-unsafe): one thread
  }
  Experiments(const Experiments&) = delete;
  Experiments& operator=(const Experiments&) = delete;
  void write(const std::string& file, const nlohmann::ordered_json& json) const {
    folder_.write(file, json.dump());
  }
  void claims(const std::vector<nlohmann::ordered_json>& claims) const { write("p/claims.json", claims); }
  // Its folder, for files beside the experiment.
  std::filesystem::path experiment(const std::string& name, const nlohmann::ordered_json& json) const {
    const std::filesystem::path folder = folder_.path("p/" + name);
    std::filesystem::create_directory(folder);
    write("p/" + name + "/experiment.json", json);
    return folder;
  }

 private:
  test::Folder folder_;
};

// Under sbr and harp; cycles alone are measured.
inline nlohmann::ordered_json small_experiment(const nlohmann::ordered_json& programs) {
  return {{"title", "An experiment"},
          {"place", "1"},
          {"config", "harp-fermi"},
          {"size", "small"},
          {"programs", programs},
          {"variants", {{{"name", "sbr"}}, {{"name", "harp"}, {"set", {"warp_formation.scheme=harp"}}}}},
          {"measures", {"cycles"}}};
}

}  // namespace weft::end_to_end

#endif
