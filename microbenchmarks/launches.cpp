// What a launch of an empty kernel takes, seen from the host.
#include "microbenchmarks/measurement.h"

namespace weft::microbenchmarks {
namespace {

constexpr const char* kEmpty =
    ".visible .entry k(.param .u64 p_out, .param .u64 p_buffer, .param .u64 p_number, .param .u64 p_other) "
    "{\n"
    "  ret;\n}\n";

// Microseconds of a launch: each waited for, or all of them one behind the other.
double empty(Bench& bench, bool waited) {
  Machine& machine = bench.machine();
  const Machine::Kernel kernel = bench.kernel(kEmpty);
  const unsigned count = bench.sizes().launches_in_a_row;
  const auto seconds = [&](unsigned launches) {
    const double start = machine.seconds();
    for (unsigned i = 0; i < launches; ++i) {
      machine.start(kernel, {1, 32}, {bench.out(), 0, 0, 0});
      if (waited) machine.wait();
    }
    machine.wait();
    return machine.seconds() - start;
  };
  seconds(2);  // the first launch of a kernel loads it
  if (waited) return seconds(count) / count * 1e6;
  return (seconds(3 * count) - seconds(count)) / (2 * count) * 1e6;
}

}  // namespace

void add_launches(std::vector<Measurement>& all) {
  all.push_back({"launch", "us", {{"kernel", "empty"}, {"host", "waits"}}, [](Bench& bench) {
                   return empty(bench, true);
                 }});
  all.push_back({"launch", "us", {{"kernel", "empty"}, {"host", "goes on"}}, [](Bench& bench) {
                   return empty(bench, false);
                 }});
}

}  // namespace weft::microbenchmarks
