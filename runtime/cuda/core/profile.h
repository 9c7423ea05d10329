// What a program did on the device: one record per kernel launch, copy and fill; a summary by name.
#ifndef WEFT_RUNTIME_CUDA_CORE_PROFILE_H
#define WEFT_RUNTIME_CUDA_CORE_PROFILE_H

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "check/report.h"
#include "weft/cuda_structures.h"

namespace weft::runtime {
class Device;
}

namespace weft::cuda {

class Backend;
class Context;

struct Activity {
  enum class Kind { kKernel, kHostToDevice, kDeviceToHost, kDeviceToDevice, kHostToHost, kFill };
  // Of a kernel, or of all kernels up to now.
  struct Counts {
    std::uint64_t cycles = 0, thread_instructions = 0, warp_instructions = 0;
    Counts operator-(const Counts& other) const {
      return {cycles - other.cycles, thread_instructions - other.thread_instructions,
              warp_instructions - other.warp_instructions};
    }
  };
  Kind kind = Kind::kKernel;
  std::string name;  // of a kernel, mangled
  unsigned stream = 0;
  std::uint64_t start = 0, duration = 0;  // picoseconds, simulated
  std::uint64_t bytes = 0;                // of a copy or fill
  dim3 grid, block;
  Counts counts;         // of the kernel; instructions only if no other ran at the same time
  Counts up_to_its_end;  // of all kernels of this life of the device
  bool overlaps = false;
  bool timed = true;         // false: not among those that were to be timed
  std::uint64_t launch = 0;  // its number among the program's launches, from 1 on, where only some are timed
  std::uint64_t end() const { return start + duration; }
};

// What a copy brought to the host, as a digest (common/digest.h).
struct CopiedBytes {
  std::uint64_t bytes = 0;
  std::string xxh3;
};

class Profile {
 public:
  using Counts = Activity::Counts;
  // Records beyond this number only count in the summary.
  static constexpr std::size_t kMostRecords = 1'000'000;
  // Copies from the device that have an entry of their own among the outputs.
  static constexpr std::size_t kMostOutputs = 1'000;

  static Counts counts(runtime::Device& device);
  void add(Activity activity);
  // A copy from the device has been put into a stream; returns its number. How copies end depends on time, in
  // which order the program asks for them does not.
  std::size_t copy_begins() {
    copies_.emplace_back();
    return copies_.size() - 1;
  }
  void copied(std::size_t number, CopiedBytes bytes) { copies_[number] = std::move(bytes); }
  // A line in front of the summary's table.
  void note(std::string line) { note_ = std::move(line); }

  // A table like nvprof's: share, time, calls, average, minimum, maximum, name.
  std::string summary() const;
  // The device is about to be reset, or the program to end: keeps its statistics.
  void keep_statistics(runtime::Device& device);
  // What the checks had found then, in all lives of the device.
  const std::vector<check::Report>& findings() const { return findings_; }
  // config.json, summary.txt, the tables that the simulator was asked for, stats.json, all or none. Returns a
  // message if they are elsewhere; throws InputError if they are nowhere.
  [[nodiscard]] std::string write(const std::string& folder, Context& context, Backend& backend) const;

 private:
  struct Sum {
    Activity::Kind kind = Activity::Kind::kKernel;
    std::uint64_t calls = 0, total = 0, least = UINT64_MAX, most = 0, bytes = 0;
    Counts counts;
    std::uint64_t untimed_calls = 0;  // and what they did, beside what the timed ones did
    Counts untimed;
  };
  static Counts& counts_of(Sum& sum, const Activity& activity) {
    return activity.timed ? sum.counts : sum.untimed;
  }
  nlohmann::ordered_json to_json(Context& context) const;
  nlohmann::ordered_json outputs_json() const;

  void count_instructions(Activity& activity);

  std::vector<Activity> records_;
  Counts last_;                 // up to the end of the kernel that ended last
  std::uint64_t last_end_ = 0;  // picoseconds
  std::string note_;
  std::uint64_t left_out_ = 0;
  std::map<std::string, Sum> sums_;  // by readable name
  std::vector<CopiedBytes> copies_;  // from the device, in the order of the program's calls
  std::vector<check::Report> findings_;
  std::vector<std::string> devices_;  // JSON: statistics of each life of the device, from reset to reset
};

}  // namespace weft::cuda

#endif
