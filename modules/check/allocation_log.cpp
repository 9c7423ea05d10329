#include "check/allocation_log.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <sstream>

#include "check/report.h"
#include "common/hex.h"

namespace weft::check {

void AllocationLog::allocated(std::uint64_t address, std::uint64_t bytes, const std::string& name) {
  live_[address] = all_.size();
  all_.push_back({address, bytes, name, name.empty() ? ++numbered_ : 0, launches_, 0, true, false, 0});
}

void AllocationLog::allocated_by_kernel(std::uint64_t address, std::uint64_t bytes, const Malloc& by) {
  live_[address] = all_.size();
  const auto known = std::find_if(mallocs_.begin(), mallocs_.end(), [&](const Malloc& other) {
    return other.pc == by.pc && other.kernel == by.kernel;
  });
  const auto number = static_cast<std::size_t>(known - mallocs_.begin());
  if (known == mallocs_.end()) mallocs_.push_back(by);
  all_.push_back({address, bytes, "", ++numbered_, launches_, 0, true, true, number});
}

std::vector<Report> AllocationLog::leaks() const {
  std::vector<Report> reports;
  std::vector<std::size_t> report_of(mallocs_.size(), SIZE_MAX);
  for (const Allocation& allocation : all_) {
    if (!allocation.live || !allocation.by_kernel) continue;
    std::size_t& report = report_of[allocation.by];
    if (report != SIZE_MAX) {
      ++reports[report].count;
      continue;
    }
    report = reports.size();
    const Malloc& by = mallocs_[allocation.by];
    reports.push_back({"leak", by.kernel, by.pc,
                       by.text + ": malloc, leak: " + describe(allocation) + " is never freed", 1});
  }
  return reports;
}

std::uint64_t AllocationLog::freed(std::uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) return 0;
  Allocation& allocation = all_[found->second];
  allocation.live = false;
  allocation.gone = launches_;
  live_.erase(found);
  return allocation.bytes;
}

const AllocationLog::Allocation* AllocationLog::live_at_or_before(std::uint64_t address) const {
  const auto after = live_.upper_bound(address);
  return after == live_.begin() ? nullptr : &all_[std::prev(after)->second];
}

const AllocationLog::Allocation* AllocationLog::live_after(std::uint64_t address) const {
  const auto after = live_.upper_bound(address);
  return after == live_.end() ? nullptr : &all_[after->second];
}

// The last one freed, if several have been there.
const AllocationLog::Allocation* AllocationLog::freed_at(std::uint64_t address) const {
  for (auto allocation = all_.rbegin(); allocation != all_.rend(); ++allocation) {
    if (!allocation->live && address - allocation->address < allocation->bytes) return &*allocation;
  }
  return nullptr;
}

bool AllocationLog::is_freed(std::uint64_t address) const {
  const Allocation* live = live_at_or_before(address);
  if (live != nullptr && address - live->address < live->bytes) return false;
  return freed_at(address) != nullptr;
}

std::vector<ImagePart> AllocationLog::of_host() const {
  std::vector<ImagePart> parts;
  for (const auto& [address, index] : live_) {
    const Allocation& allocation = all_[index];
    if (!allocation.by_kernel && allocation.name != kParameters)
      parts.push_back({allocation.number, address, allocation.bytes, 0});
  }
  return parts;
}

std::string AllocationLog::describe(const Allocation& allocation) const {
  std::ostringstream out;
  if (allocation.name.empty()) {
    out << "allocation " << allocation.number;
  } else {
    out << "variable " << allocation.name;
  }
  out << " (" << allocation.bytes << " bytes at " << hex(allocation.address) << ", ";
  if (allocation.by_kernel) {
    out << "malloc in launch " << allocation.made;
    if (!allocation.live) out << ", freed in launch " << allocation.gone;
    out << ")";
    return out.str();
  }
  out << (allocation.name.empty() ? "allocated" : "placed") << " before launch " << allocation.made + 1;
  if (!allocation.live) out << ", freed after launch " << allocation.gone;
  out << ")";
  return out.str();
}

std::string AllocationLog::place(std::uint64_t address) const {
  std::ostringstream out;
  out << hex(address) << ", ";
  const Allocation* before = live_at_or_before(address);
  const Allocation* after = live_after(address);
  if (before != nullptr && address - before->address < before->bytes) {
    out << "byte " << address - before->address << " of " << describe(*before);
  } else if (const Allocation* freed = freed_at(address); freed != nullptr) {
    out << "byte " << address - freed->address << " of " << describe(*freed);
  } else if (before != nullptr &&
             (after == nullptr || address - (before->address + before->bytes) < after->address - address)) {
    out << address - (before->address + before->bytes) << " bytes after the end of " << describe(*before);
  } else if (after != nullptr) {
    out << after->address - address << " bytes before " << describe(*after);
  } else {
    out << "and nothing is allocated";
  }
  return out.str();
}

}  // namespace weft::check
