#include "sc_main/bench_history.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "common/output_files.h"
#include "common/utc_time.h"
#include "study/session/version.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

// The first "model name" of the kernel's list; a machine without one has the name "unknown".
std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

ordered_json json_of(const BenchHistory::Key& key) {
  return {{"cpu", cpu_model()},   {"program", key.program}, {"mode", key.mode},
          {"config", key.config}, {"size", key.size},       {"settings", key.settings}};
}

bool is_figure(const ordered_json& figure) {
  const auto is_text = [&](const char* name) { return figure.contains(name) && figure.at(name).is_string(); };
  return figure.is_object() && figure.contains("of") && is_text("date") && is_text("version") &&
         figure.contains("speed") && figure.at("speed").is_number() && figure.at("speed").get<double>() > 0;
}

}  // namespace

std::string BenchHistory::default_file() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/weft/bench.json";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.cache/weft/bench.json";
  return "";
}

BenchHistory::BenchHistory(std::string file) : file_(std::move(file)) {
  if (file_.empty()) return;
  std::ifstream in(file_);
  const ordered_json read = ordered_json::parse(in, nullptr, false);
  if (!read.is_array()) return;
  for (const ordered_json& figure : read) {
    if (is_figure(figure)) figures_.push_back(figure);
  }
}

std::optional<BenchHistory::Figure> BenchHistory::find(const Key& key) const {
  const ordered_json wanted = json_of(key);
  for (const ordered_json& figure : figures_) {
    if (figure.at("of") != wanted) continue;
    return Figure{figure.at("date").get<std::string>(), figure.at("version").get<std::string>(),
                  figure.at("speed").get<double>()};
  }
  return std::nullopt;
}

void BenchHistory::keep(const Key& key, double speed) {
  const ordered_json of = json_of(key);
  ordered_json others = ordered_json::array();
  for (ordered_json& figure : figures_) {
    if (figure.at("of") != of) others.push_back(std::move(figure));
  }
  figures_ = std::move(others);
  figures_.push_back({{"of", of}, {"date", utc_now()}, {"version", study::version()}, {"speed", speed}});
  if (figures_.size() > kMostFigures) figures_.erase(0);
}

std::string BenchHistory::save() const {
  if (file_.empty()) return "neither XDG_CACHE_HOME nor HOME names a folder";
  try {
    make_folder(std::filesystem::path(file_).parent_path().string());
    replace_file(file_, figures_.dump(2) + "\n");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace weft::cli
