#include "study/session/time_window.h"

#include "weft/common/error.h"

namespace weft::study {
namespace {

void check_order(const std::string& last, std::uint64_t last_value, const std::string& first,
                 std::uint64_t first_value) {
  if (last_value >= first_value) return;
  throw InputError("--" + last, "found " + std::to_string(last_value) + "; allowed: " +
                                    std::to_string(first_value) + " (--" + first + ") or more");
}

}  // namespace

void check_window_options(const std::string& prefix, const TimeWindow& window) {
  check_order(prefix + "-stop", window.last_cycle, prefix + "-start", window.first_cycle);
  check_order(prefix + "-last-launch", window.last_launch, prefix + "-first-launch", window.first_launch);
}

}  // namespace weft::study
