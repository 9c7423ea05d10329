// Results of a run: config.json, summary.txt, run.json, stats.json.
#ifndef WEFT_STUDY_SESSION_OUTCOME_H
#define WEFT_STUDY_SESSION_OUTCOME_H

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/output_files.h"
#include "study/terminal/paint.h"
#include "weft/common/statistics.h"
#include "weft/runtime/device.h"
#include "workloads/workload.h"

namespace weft::study {

// What a program of one's own computed, as a digest (common/digest.h): a buffer.
struct Output {
  std::string name;  // "argument 2"
  std::uint64_t bytes = 0;
  std::string xxh3;
};

// What a run was and how it ended.
struct Outcome {
  std::string workload;  // name, or the kernel of a raw run
  workloads::Size size;  // option values; empty for a raw run
  workloads::Code code;
  std::string inputs;               // of a raw run: grid, block and arguments; a workload's are its size's
  std::optional<bool> verified;     // none: there was nothing to compare with
  std::string message;              // what was compared
  std::string fault;                // empty: ran to its end
  bool interrupted = false;         // the fault came from outside: a signal or --max-cycles
  std::string mode = "timed";       // mode_of(SessionOptions)
  std::vector<std::string> checks;  // that were asked for
  std::string violations;           // of the TLM-2.0 protocol, if monitored
  std::vector<Output> outputs;      // of a raw run: its buffers
};

// The content of stats.json. Apart from cpu_seconds, wall_seconds and peak_memory_bytes it depends on nothing
// but the configuration and the work.
nlohmann::ordered_json statistics_json(const Outcome& outcome, runtime::Device& device);
// A page for people.
std::string summary(const Outcome& outcome, runtime::Device& device, const Paint& paint = {});

// Share of scheduler cycles per bucket, largest first, over all schedulers of all SMs; empty without any
// cycle.
struct BucketShare {
  std::string bucket, meaning;
  double share = 0;
};
std::vector<BucketShare> scheduler_cycles(const statistics::Group& root);

// Writes config.json, summary.txt, run.json (`record`), what else there is, and stats.json, which is there
// only if all are and are of one run (save_files in output_files.h, as is `synced`). Returns a message if
// they are elsewhere; throws InputError if they are nowhere.
[[nodiscard]] std::string write_results(const std::string& folder, const Outcome& outcome,
                                        runtime::Device& device, const nlohmann::ordered_json& record,
                                        std::vector<TextFile> more, bool synced);
// JSON as it stands in files.
std::string text_of(const nlohmann::ordered_json& json);

// Saves a result (save_file), and says on standard error where it went if that is elsewhere; false then.
bool save_result(const std::string& path, const std::string& text);

// The most memory that this process has held, in bytes.
std::uint64_t peak_memory_bytes();
// FNV-1a, 64 bits, as 16 hexadecimal digits: identifies a text, no protection against forgery.
std::string fnv1a(const std::string& text);

}  // namespace weft::study

#endif
