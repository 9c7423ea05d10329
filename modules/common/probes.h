// What can be seen of parts while a simulation runs: the one table of signals, for waveforms of every kind.
//
//   void L2Bank::probes(const Probes::Scope& scope) const {
//     scope.signal("mshrs", Probes::kCountBits, [this](std::uint64_t) { return mshrs_.in_use(); });
//   }
//   bank.probes(table.root().scope("l2", 3));   // "l2_3.mshrs"
//
// A probe is a function that reads and changes nothing that counts, so those that nobody looks at cost
// nothing. Gauges of the statistics are probes as well (Scope::gauges), and counters
// where asked for.
#ifndef WEFT_COMMON_PROBES_H
#define WEFT_COMMON_PROBES_H

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "weft/common/statistics.h"

namespace weft {

class Probes {
 public:
  // The value of a signal that has none at the moment.
  static constexpr std::uint64_t kUndriven = ~std::uint64_t{0};
  static constexpr unsigned kMostBits = 63;
  static constexpr unsigned kCountBits = 16;  // lanes, warps, places in queues
  static constexpr unsigned kNumberBits = 32;

  // Asked at an edge of the core clock, `now`, after everything that happens at it.
  using Read = std::function<std::uint64_t(std::uint64_t now)>;
  using ReadText = std::function<std::string_view(std::uint64_t now)>;
  // Another number than before if signals of its scope may have changed since: those of a part that rests
  // need not be read.
  using Version = std::function<std::uint64_t()>;
  struct Probe {
    std::string name;   // with its scopes: "sm0.scheduler1.pc"
    unsigned bits = 0;  // 1 to kMostBits; 0: a text
    Read read{};
    ReadText read_text{};
    const std::uint64_t* counter = nullptr;  // what `read` gives, without a call; nullptr: it computes
    const Version* version = nullptr;        // nullptr: it may change at any time
    bool detail = false;                     // one of very many, which few need: shown where it is asked for

    std::uint64_t most() const { return (std::uint64_t{1} << bits) - 1; }
    std::uint64_t value(std::uint64_t now) const { return shown(read(now), most()); }
    // What does not fit shows as the largest number that does.
    static std::uint64_t shown(std::uint64_t value, std::uint64_t most) {
      return value <= most || value == kUndriven ? value : most;
    }
  };

  class Scope {
   public:
    Scope scope(std::string_view name) const {
      return {*table_, prefix_ + std::string(name) + ".", version_, detail_};
    }
    // Instance `index` of a kind, named as in the statistics.
    Scope scope(std::string_view kind, unsigned index) const {
      return scope(statistics::name_of(kind, index));
    }
    // This scope, whose signals change only with the version; or, once more, at any time.
    Scope with(Version version) const {
      table_->versions_.push_back(std::move(version));
      return {*table_, prefix_, &table_->versions_.back(), detail_};
    }
    Scope without_version() const { return {*table_, prefix_, nullptr, detail_}; }
    // This scope, whose signals are details.
    Scope details() const { return {*table_, prefix_, version_, true}; }
    void signal(std::string_view name, unsigned bits, Read read) const {
      add(name, bits, std::move(read), {});
    }
    void text(std::string_view name, ReadText read) const { add(name, 0, {}, std::move(read)); }
    // Every gauge of the group and of those below it, which outlive the table.
    void gauges(const statistics::Group& group) const {
      group.each([this](const std::vector<const statistics::Group*>& way, const statistics::Entry& entry) {
        if (entry.kind != statistics::Entry::Kind::kGauge) return;
        std::string name;
        for (const statistics::Group* below : way) name += below->name() + ".";
        signal(name + std::string(entry.name), kCountBits, [&entry](std::uint64_t) { return entry.gauge(); });
      });
    }

    // Counters of the group with these names, as they stand.
    void counters(const statistics::Group& group, std::initializer_list<const char*> names) const {
      for (const char* name : names) {
        for (const statistics::Entry* entry : group.find({name})) {
          signal(name, kMostBits, [counter = entry->counter](std::uint64_t) { return *counter; });
          table_->all_.back().counter = entry->counter;
        }
      }
    }

   private:
    friend class Probes;
    Scope(Probes& table, std::string prefix, const Version* version, bool detail)
        : table_(&table), prefix_(std::move(prefix)), version_(version), detail_(detail) {}
    void add(std::string_view name, unsigned bits, Read read, ReadText text) const {
      table_->all_.push_back(
          {prefix_ + std::string(name), bits, std::move(read), std::move(text), nullptr, version_, detail_});
    }
    Probes* table_;
    std::string prefix_;
    const Version* version_;
    bool detail_;
  };

  Probes() = default;
  Probes(const Probes&) = delete;
  Probes& operator=(const Probes&) = delete;

  Scope root() { return {*this, "", nullptr, false}; }
  const std::deque<Probe>& all() const { return all_; }

 private:
  std::deque<Probe> all_;
  std::deque<Version> versions_;
};

}  // namespace weft

#endif
