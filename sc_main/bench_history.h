// The last speeds that `weft bench` measured on this machine, in a file of the user's cache folder.
//
//   BenchHistory history(BenchHistory::default_file());
//   const BenchHistory::Key key{"bfs", "timed", "gtx480", "", {}};
//   if (const auto earlier = history.find(key)) ...
//   history.keep(key, 2.5e6);
//   const std::string problem = history.save();
#ifndef WEFT_SC_MAIN_BENCH_HISTORY_H
#define WEFT_SC_MAIN_BENCH_HISTORY_H

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

class BenchHistory {
 public:
  // Two figures are compared if all of this and the model of the CPU are equal.
  struct Key {
    std::string program, mode, config, size;
    std::vector<std::string> settings;  // "path=value"
  };
  struct Figure {
    std::string date;     // UTC: "2026-11-27T17:40:00Z"
    std::string version;  // of the Weft that was measured
    double speed = 0;     // executed thread instructions per CPU second, above 0
  };

  // $XDG_CACHE_HOME/weft/bench.json, else ~/.cache/weft/bench.json. Empty if neither folder is known.
  static std::string default_file();

  // A missing or damaged file gives a history without figures, and so does an empty name.
  explicit BenchHistory(std::string file);

  const std::string& file() const { return file_; }
  std::optional<Figure> find(const Key& key) const;
  // Replaces the figure of the key, with the present time and this Weft's version.
  void keep(const Key& key, double speed);
  // Writes the file. Returns why that is impossible, or an empty text.
  std::string save() const;

 private:
  static constexpr std::size_t kMostFigures = 1000;  // the oldest ones go

  const std::string file_;
  nlohmann::ordered_json figures_ = nlohmann::ordered_json::array();
};

}  // namespace weft::cli

#endif
