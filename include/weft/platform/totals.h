// What a GPU says of a run in a few numbers.
#ifndef WEFT_PLATFORM_TOTALS_H
#define WEFT_PLATFORM_TOTALS_H

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// What the command line shows of a running launch.
struct Progress {
  std::uint64_t blocks_done = 0, blocks_total = 0;
  std::uint64_t cycles = 0;               // core cycles spent in launches so far
  std::uint64_t thread_instructions = 0;  // executed so far
};

struct DerivedValue {
  std::string_view name;
  double value = 0;
};

// What a GPU counted in total since construction or the last statistics reset.
struct Totals {
  std::uint64_t cycles = 0;                        // core cycles in which a launch was active
  std::uint64_t thread_instructions = 0;           // threads of the instructions issued
  std::uint64_t executed_thread_instructions = 0;  // of these, threads whose guard held
  std::uint64_t warp_instructions = 0;
  std::uint64_t lanes = 0;             // of the datapath: threads that a beat can run
  std::uint64_t beats_in_a_cycle = 1;  // of a scheduler: more where lanes run warps of their own
  // Shares and rates, in the order of stats.json: "ipc", "idle_share" ... `weft list measures` has units and
  // meanings; modules/measures defines them.
  std::vector<DerivedValue> derived;

  // The derived value of this name. Throws std::out_of_range if there is none.
  double operator[](std::string_view name) const {
    for (const DerivedValue& one : derived) {
      if (one.name == name) return one.value;
    }
    throw std::out_of_range("unknown derived value '" + std::string(name) + "'");
  }
};

// How busy the instances of a resource were: shares of the cycles in which a launch was active.
struct Utilisation {
  enum class Kind : std::uint8_t {
    kWork,     // moves one thing after the other
    kNetwork,  // likewise, but packets wait behind others that go elsewhere
    kTable,    // holds entries; busy: all are in use
    kDram      // works, and loses time between
  };
  const char* key = "";   // as in stats.json
  const char* name = "";  // for people
  Kind kind = Kind::kWork;
  std::size_t instances = 0, which = 0;  // which: the busiest
  double busiest = 0, mean = 0;
  double held_up = 0;  // kNetwork: share of the packets of this direction that did not find a place at once
};

// What limits a run. A resource whose busiest instance is saturated, or "latency": none is.
struct Bound {
  std::string by;        // a resource's key, or "latency"; empty: nothing ran
  double busy = 0;       // of its busiest instance; latency: of the busiest resource
  std::string in_short;  // for a column
  std::string text;
  std::string waits;  // latency: what schedulers did instead of issuing
};

}  // namespace weft

#endif
