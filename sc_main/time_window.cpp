#include "sc_main/time_window.h"

#include "sc_main/options.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

void check_order(const std::string& last, std::uint64_t last_value, const std::string& first,
                 std::uint64_t first_value) {
  if (last_value >= first_value) return;
  throw InputError("--" + last, "found " + std::to_string(last_value) + "; allowed: " +
                                    std::to_string(first_value) + " (--" + first + ") or more");
}

}  // namespace

void add_window_options(Options& description, const std::string& prefix, const std::string& what,
                        TimeWindow& window) {
  const Bounds cycles{0, UINT64_MAX, 1, "core cycles"}, launches{0, UINT64_MAX, 1, "launches"};
  const auto add = [&](const char* suffix, std::uint64_t& target, const Bounds& bounds,
                       const std::string& meaning) {
    description.number((prefix + suffix).c_str(), target, bounds, meaning);
  };
  add("-start", window.first_cycle, cycles, "first core cycle of " + what);
  add("-stop", window.last_cycle, cycles, "last core cycle of " + what);
  add("-first-launch", window.first_launch, launches,
      "first launch of " + what + ", from 1; 0: what is before it, too");
  add("-last-launch", window.last_launch, launches, "last launch of " + what);
}

void check_window_options(const std::string& prefix, const TimeWindow& window) {
  check_order(prefix + "-stop", window.last_cycle, prefix + "-start", window.first_cycle);
  check_order(prefix + "-last-launch", window.last_launch, prefix + "-first-launch", window.first_launch);
}

}  // namespace weft::cli
