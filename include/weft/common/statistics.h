// Statistics as a tree: groups (an SM, a cache, a scheduler) with what they count.
//
//   void L1::bind(statistics::Group& group) {
//     group.counter("misses", units::kAccesses, "requests whose line was absent", misses_);
//     mshrs_.bind(group.group("mshr"));
//   }
//   sm.bind(root.group("sm", 3));  // instance 3 of the kind "sm", "sm3" in JSON
//   const Sum misses = root.sum({"sm", "memory", "l1d", "misses"});  // of all SMs, found once
//   misses.value();
//
// Values are bound by reference and read when somebody asks; counting costs an increment and nothing else.
#ifndef WEFT_COMMON_STATISTICS_H
#define WEFT_COMMON_STATISTICS_H

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <limits>
#include <list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "weft/common/archive.h"
#include "weft/common/units.h"

namespace weft::statistics {

// How the values of several instances make one, and what a difference over time means.
enum class Quantity : std::uint8_t {
  kSum,      // adds up, and only grows: a difference is what was counted in between
  kMaximum,  // of several, the largest; a difference means nothing
  kRatio,    // of two sums: over several instances the ratio of the sums of both
  kLevel,    // holds at the moment: adds up over instances, not over time
};

// Two sums of counters. `scale` multiplies the divisor; `of_nothing` is the value while that is 0, and a NaN
// of it prints as null.
inline constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
struct Ratio {
  std::vector<const std::uint64_t*> dividend, divisor;
  double scale = 1;
  double of_nothing = 0;
};

// A name or a description. Literals live on; anything else is copied by whoever keeps the text.
class Text {
 public:
  // NOLINTBEGIN(google-explicit-constructor,*-c-arrays): as a std::string would be made of them
  template <std::size_t kSize>
  Text(const char (&literal)[kSize]) : view_(literal, kSize - 1), lives_on_(true) {}
  template <std::size_t kSize>
  Text(char (&buffer)[kSize]) = delete;  // make a std::string of it
  Text(const std::string& text) : view_(text) {}
  Text(std::string_view text) : view_(text) {}
  template <class T, std::enable_if_t<std::is_same_v<T, const char*>, int> = 0>
  Text(T text) : view_(text) {}
  // NOLINTEND(google-explicit-constructor,*-c-arrays)
  std::string_view view() const { return view_; }
  bool lives_on() const { return lives_on_; }

 private:
  std::string_view view_;
  bool lives_on_ = false;
};

struct Entry {
  enum class Kind : std::uint8_t { kCounter, kHistogram, kRatio, kDerived, kGauge };
  std::string_view name;
  Kind kind = Kind::kCounter;
  Quantity quantity = Quantity::kSum;
  Unit unit;
  std::string_view description;  // one line
  // One of these, by kind.
  std::uint64_t* counter = nullptr;
  std::vector<std::uint64_t>* histogram = nullptr;
  Ratio ratio{};
  std::function<double()> derived{};
  std::function<std::uint64_t()> gauge{};

  double value() const;  // of a histogram: all of its bins
};

// A place in the tree: names of groups, and of an entry at the end. A step without an index means all
// instances of its kind, as well as a group of that name that has no instances.
struct Step {
  Step(const char* step_name) : name(step_name) {}       // NOLINT(google-explicit-constructor): {"sm", "l1d"}
  Step(std::string_view step_name) : name(step_name) {}  // NOLINT(google-explicit-constructor)
  Step(std::string_view kind, unsigned instance) : name(kind), index(instance) {}
  std::string_view name;
  std::optional<unsigned> index;
};
using Path = std::initializer_list<Step>;

// Counters that a path named, found once: reading them costs an addition each.
class Sum {
 public:
  Sum() = default;
  std::uint64_t value() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t* counter : counters_) sum += *counter;
    return sum;
  }
  Sum& operator+=(const Sum& other) {
    counters_.insert(counters_.end(), other.counters_.begin(), other.counters_.end());
    return *this;
  }
  bool empty() const { return counters_.empty(); }

 private:
  friend class Group;
  std::vector<const std::uint64_t*> counters_;
};

class Group {
 public:
  Group() = default;  // the root
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  Group(Group&&) noexcept = default;  // what is below stays where it is
  Group& operator=(Group&&) noexcept = default;
  ~Group() = default;

  // The name that stands in JSON: the kind with the number of the instance ("sm3"; "l2_0" where the kind ends
  // with a digit).
  const std::string& name() const { return name_; }
  const std::string& kind() const { return kind_; }
  std::optional<unsigned> index() const { return index_; }

  // A group below this one; made where it is not there. std::logic_error if the name is empty, has other
  // characters than letters, digits, - and _, or is an entry's or another group's.
  Group& group(std::string_view name) { return child(name, {}); }
  Group& group(std::string_view kind, unsigned index) { return child(kind, index); }

  // Entries; a name that is taken throws std::logic_error. What they refer to must outlive the tree.
  void counter(Text name, Unit unit, Text description, std::uint64_t& value);
  void maximum(Text name, Unit unit, Text description, std::uint64_t& value);
  void histogram(Text name, Unit unit, Text description, std::vector<std::uint64_t>& bins);
  void ratio(Text name, Unit unit, Text description, Ratio ratio);
  // Computed when asked for; `reset` leaves it alone.
  void derived(Text name, Quantity quantity, Unit unit, Text description, std::function<double()> value);
  // What is so at the moment, such as the length of a queue. It means nothing at the end of a run, so it is
  // not in `sample`.
  void gauge(Text name, Unit unit, Text description, std::function<std::uint64_t()> value);

  // Counters and histograms, by their names.
  void archive(Archive& archive);
  // Zeroes every counter and histogram: the start of a region of interest.
  void reset();
  // A nested JSON object, in the order in which groups and entries were made; without gauges, and without
  // groups that have nothing else. A value that is not a number (a rate of nothing) prints as null.
  nlohmann::ordered_json sample() const;

  // What the path names, in order. Empty: nothing.
  std::vector<const Entry*> find(Path path) const;
  // The sum of what it names. std::logic_error if there is nothing, or one is no counter that adds up.
  Sum sum(Path path) const;
  // The groups that it names.
  std::vector<const Group*> groups(Path path) const;

  // Groups and entries below this group, in order; one of the two is null.
  struct Node {
    const Group* group = nullptr;
    const Entry* entry = nullptr;
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  // Visits every entry below, with the groups on the way to it, this one left out.
  using Visit = std::function<void(const std::vector<const Group*>& way, const Entry& entry)>;
  void each(const Visit& visit) const;

 private:
  Group& child(std::string_view kind, std::optional<unsigned> index);
  Entry& add(Text name, Entry::Kind kind, Quantity quantity, Unit unit, Text description);
  std::string_view kept(Text text);
  void check_free(std::string_view name) const;
  template <class Take>
  static void each_named(const Group& group, const Step* step, const Step* end, Take&& take);
  bool has_samples() const;
  void each_below(std::vector<const Group*>& way, const Visit& visit) const;

  std::string kind_, name_;
  std::optional<unsigned> index_;
  std::list<Group> groups_;  // nodes point into them
  std::deque<Entry> entries_;
  std::vector<Node> nodes_;
  std::list<std::string> texts_;  // of entries, but for literals
};

// The name of an instance, and what stands for those of all instances: "sm*".
std::string name_of(std::string_view kind, std::optional<unsigned> index);
std::string pattern_of(std::string_view kind);

}  // namespace weft::statistics

#endif
