// The registry of statistics: hierarchical name, unit, one-line description. Values are bound by reference
// and read once, when the registry is sampled; counting costs an increment and nothing else.
//
//   registry.counter("sm0.l1d.misses", "accesses", "lines not found in the L1 data cache", misses_);
#ifndef WEFT_COMMON_STATISTICS_H
#define WEFT_COMMON_STATISTICS_H

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::statistics {

class Registry {
 public:
  struct Entry {
    std::string name;         // dots separate levels: "sm3.scheduler0.idle.dependence"
    std::string unit;         // "cycles", "threads", "bytes", "ratio", ...
    std::string description;  // one line
    std::uint64_t* counter = nullptr;
    std::vector<std::uint64_t>* histogram = nullptr;
    std::function<double()> value;
  };

  // A duplicate name, or one that is both a value and a level, throws std::logic_error. The referenced value
  // must outlive the registry or be bound again.
  void counter(std::string name, std::string unit, std::string description, std::uint64_t& value);
  void histogram(std::string name, std::string unit, std::string description,
                 std::vector<std::uint64_t>& bins);
  // A value computed from others when sampled (a rate, a share). `reset` leaves it alone.
  void derived(std::string name, std::string unit, std::string description, std::function<double()> value);

  // Zeroes every counter and histogram: the start of a region of interest.
  void reset();
  // A nested JSON object, one level per dot, in order of registration. A derived value that is not a number
  // (a rate of nothing) prints as null.
  nlohmann::ordered_json sample() const;
  // Names, units, descriptions, for `weft list statistics`.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  enum class Place : std::uint8_t { kLevel, kValue };
  void add(Entry entry);
  std::unordered_map<std::string, Place> places_;
  std::vector<Entry> entries_;
};

}  // namespace weft::statistics

#endif
