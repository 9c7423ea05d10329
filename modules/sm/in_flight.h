// The instructions in flight of an SM: a record each, by the id under which the scheme and the load-store
// unit know it. A record lives until everything that still has to come for it has come.
#ifndef WEFT_SM_IN_FLIGHT_H
#define WEFT_SM_IN_FLIGHT_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "bus/clock_domain.h"
#include "execute/kernel.h"
#include "weft/common/archive.h"
#include "weft/common/popcount.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

struct InFlight {
  const execute::Operation* op = nullptr;
  ptx::Pc pc = 0;
  std::uint16_t depth = 0, slot = 0, domain = 0, context = 0;  // the context is one of the domain's
  std::uint8_t group_count = 0;
  std::uint16_t references = 0;  // what still has to come: events, the load-store unit
  bool waits = false;            // barrel: threads wait for loaded data
  Cycle earliest = 0;            // barrel: no thread is resolved before
  std::array<warp_formation::ThreadGroup, warp_formation::kMaxGroups> groups;
  std::array<std::uint32_t, warp_formation::kMaxGroups> executing;  // threads whose guard holds
  std::uint32_t warp = 0;  // a scalar instruction: all positions of its warp in its chunk; else 0

  warp_formation::Groups all() const { return {groups.data(), group_count}; }
  bool scalar() const { return warp != 0; }
  // Positions of group g whose registers the instruction writes.
  std::uint32_t written(unsigned g) const { return scalar() && executing[g] != 0 ? warp : executing[g]; }
  std::uint32_t threads() const {
    std::uint32_t count = 0;
    for (unsigned g = 0; g < group_count; ++g) count += count_of(groups[g].mask);
    return count;
  }
  // Those whose guard holds.
  std::uint32_t executing_threads() const {
    std::uint32_t count = 0;
    for (unsigned g = 0; g < group_count; ++g) count += count_of(executing[g]);
    return count;
  }
  // Threads of group g whose guard does not hold.
  std::uint32_t passing(unsigned g) const { return groups[g].mask & ~executing[g]; }
};

class InFlightTable {
 public:
  explicit InFlightTable(unsigned entries) : entries_(entries) {
    records_.reserve(entries);
    free_.reserve(entries);
    reset();
  }
  // As after construction, also where a launch was stopped in the middle.
  void reset() {
    records_.clear();
    free_.clear();
    for (std::size_t id = entries_; id-- > 0;) free_.push_back(static_cast<std::uint16_t>(id));
  }

  // Between two launches: which id the next instruction gets.
  void archive(Archive& archive) {
    auto& [entries, records, free] = *this;
    const bool used = !empty();
    archive(at_rest(used), set_anew(entries, records), free);
    if (!archive.writes()) records.resize(entries);  // ids that were in use come first again
  }

  bool full() const { return free_.empty(); }
  bool empty() const { return free_.size() == entries_; }
  std::size_t size() const { return entries_ - free_.size(); }
  // Not when full. The record is of an earlier instruction.
  std::uint16_t take() {
    const std::uint16_t id = free_.back();
    free_.pop_back();
    if (id == records_.size()) records_.emplace_back();
    return id;
  }
  // One thing less has to come. True: it was the last, and the id is free.
  bool release(std::uint16_t id) {
    if (--records_[id].references != 0) return false;
    free_.push_back(id);
    return true;
  }

  InFlight& operator[](std::uint16_t id) { return records_[id]; }
  const InFlight& operator[](std::uint16_t id) const { return records_[id]; }
  // Calls visit(record) for every instruction in flight.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const InFlight& record : records_) {
      if (record.references != 0) visit(record);
    }
  }

 private:
  const std::size_t entries_;
  // Made as ids are first used: few machines ever have so many instructions in flight. There is room for all,
  // so a record stays where it is.
  std::vector<InFlight> records_;
  std::vector<std::uint16_t> free_;  // the last is the next one used, at first the lowest
};

}  // namespace weft::sm

#endif
