// Configuration of the warp-formation unit: what every scheme has, and each registered scheme's own keys.
//
//   struct MineOptions final : OptionsOf<MineOptions> {        // in the scheme's file
//     std::uint64_t entries = 64;
//     void describe(config::Visitor& v) override { v.integer("entries", entries, {1, 4096}, "entries",
//     "..."); }
//   };
//
// A scheme that registers such a struct (scheme.h) has the keys "warp_formation": {"mine": {"entries": 64}}.
#ifndef WEFT_WARP_FORMATION_CONFIG_H
#define WEFT_WARP_FORMATION_CONFIG_H

#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/common/config_visitor.h"
#include "weft/common/parts.h"
#include "weft/warp_formation/warp_order.h"

namespace weft::warp_formation {

// Where the threads that part at a branch meet again: at its immediate post-dominator, as in the papers'
// simulator, or, where that would keep threads from a block barrier, before it (ptx/meeting.h).
enum class Reconvergence : std::uint8_t { kBarrierAware, kPlain };

// On which lane of its row a thread has its home: at its position modulo the lanes, or where a rule of its
// warp's number in the block puts it, so that threads that are alike in many warps do not share a lane.
enum class LanePermutation : std::uint8_t {
  kIdentity,
  kMirrorOdd,
  kMirrorHalf,
  kXor,
  kXorReverse,
  kBalanced
};

// What every scheme has.
struct CommonConfig {
  std::string scheme = "sbr";
  std::uint64_t warp_size = 32;
  PartChoice<WarpOrder> scheduling{"loose_round_robin"};
  Reconvergence reconvergence = Reconvergence::kBarrierAware;
  LanePermutation lane_permutation = LanePermutation::kIdentity;
};

using Random = std::mt19937_64;

// One scheme's own keys. What derives from it is what OptionsOf makes of a struct.
class SchemeOptions {
 public:
  virtual ~SchemeOptions() = default;
  virtual std::unique_ptr<SchemeOptions> clone() const = 0;
  virtual void describe(config::Visitor& v) = 0;
  // Rules that join several fields. `where` is the JSON path of the scheme's object, with the file's name.
  virtual void check(const std::string& where) const { static_cast<void>(where); }

  // A key beside "scheme" that this scheme has, and perhaps others: all read the same one.
  struct SharedKey {
    const char* name = nullptr;  // null: none
    bool asked_for = false;      // its value asks for something ...
    const char* needs = "";      // ... that only such schemes have: this
  };
  virtual SharedKey shared_key() const { return {}; }
  virtual void describe_shared(config::Visitor& v) { static_cast<void>(v); }

  // The longest time in core cycles that the scheme holds back threads that could run, and the key that says
  // so. The watchdog must be more patient.
  struct Hold {
    const char* key = nullptr;
    std::uint64_t cycles = 0;
  };
  virtual Hold longest_hold() const { return {}; }

  // For tests: any values that are allowed, and tables so small that they overflow.
  virtual void randomise(Random& random) { static_cast<void>(random); }

 protected:
  SchemeOptions() = default;
  SchemeOptions(const SchemeOptions&) = default;
  SchemeOptions& operator=(const SchemeOptions&) = default;
};

template <class Own>
class OptionsOf : public SchemeOptions {
 public:
  std::unique_ptr<SchemeOptions> clone() const final {
    return std::make_unique<Own>(static_cast<const Own&>(*this));
  }
};

// The options of every scheme that was registered when the object was made; copies are deep.
class OptionTable {
 public:
  struct Entry {
    std::string scheme, meaning;
    std::unique_ptr<SchemeOptions> options;
  };

  OptionTable();
  OptionTable(const OptionTable& other) {
    for (const Entry& entry : other.entries_) add(entry.scheme, entry.meaning, *entry.options);
  }
  OptionTable(OptionTable&& other) noexcept = default;
  OptionTable& operator=(const OptionTable& other) { return *this = OptionTable(other); }
  OptionTable& operator=(OptionTable&& other) noexcept = default;
  ~OptionTable() = default;

  // Null: there is no such scheme, or it has no options.
  SchemeOptions* find(const std::string& scheme);
  const SchemeOptions* find(const std::string& scheme) const;
  const std::vector<Entry>& entries() const { return entries_; }
  // Adds a copy.
  void add(const std::string& scheme, const std::string& meaning, const SchemeOptions& options) {
    entries_.push_back({scheme, meaning, options.clone()});
  }

 private:
  std::vector<Entry> entries_;  // in order of registration
};

struct Config : CommonConfig {
  OptionTable options;

  // The options of this type.
  template <class Own>
  Own& own() {
    return const_cast<Own&>(std::as_const(*this).template own<Own>());
  }
  template <class Own>
  const Own& own() const {
    for (const auto& entry : options.entries()) {
      if (const auto* found = dynamic_cast<const Own*>(entry.options.get())) return *found;
    }
    throw std::logic_error("no warp-formation scheme is registered with these options");
  }

  void describe(config::Visitor& v);
  // `where` is the JSON path of this object, with the file's name.
  void check(const std::string& where) const;
  // Throws InputError if the scheme holds threads for as long as the watchdog waits. `where`: the path of
  // what this object and the watchdog are in.
  void check_watchdog(const std::string& where, std::uint64_t cycles) const;
};

}  // namespace weft::warp_formation

#endif
