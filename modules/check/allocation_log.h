// Every allocation of device memory that there has been, live or freed: to say in a report whose address it
// is.
#ifndef WEFT_CHECK_ALLOCATION_LOG_H
#define WEFT_CHECK_ALLOCATION_LOG_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "check/thread_writes.h"
#include "weft/check/check.h"

namespace weft::check {

// The name of the allocation of a launch's parameters, which is none of the host's.
inline constexpr const char* kParameters = "(parameters)";

class AllocationLog {
 public:
  // `name`: of a variable, empty for an allocation of the host.
  void allocated(std::uint64_t address, std::uint64_t bytes, const std::string& name);
  // By malloc, in the running launch.
  struct Malloc {
    std::string kernel;
    ptx::Pc pc = 0;
    std::string text;  // kernel, PC and line
  };
  void allocated_by_kernel(std::uint64_t address, std::uint64_t bytes, const Malloc& by);
  // Returns its size; 0 if no live allocation starts there.
  std::uint64_t freed(std::uint64_t address);
  void launched() { ++launches_; }
  void clear() { *this = AllocationLog(); }

  // "0x100000200, 8 bytes behind allocation 2 (...)", "... at byte 4 of allocation 1 (..., freed after launch
  // 3)".
  std::string place(std::uint64_t address) const;
  // Whether the address lies in an allocation that has been freed, and in none that lives.
  bool is_freed(std::uint64_t address) const;
  // What the host has allocated, and the variables of modules, that live, by address.
  std::vector<ImagePart> of_host() const;
  // What kernels have allocated and nobody has freed, by place, as reports.
  std::vector<Report> leaks() const;
  // "allocation 2 (...)", of a live one that begins there.
  std::string name_of(std::uint64_t address) const { return describe(all_[live_.at(address)]); }

 private:
  struct Allocation {
    std::uint64_t address = 0, bytes = 0;
    std::string name;
    std::uint64_t number = 0;          // from 1, in order of allocation
    std::uint64_t made = 0, gone = 0;  // launches before
    bool live = true, by_kernel = false;
    std::size_t by = 0;  // of mallocs_, if by a kernel
  };
  std::string describe(const Allocation& allocation) const;
  const Allocation* live_at_or_before(std::uint64_t address) const;
  const Allocation* live_after(std::uint64_t address) const;
  const Allocation* freed_at(std::uint64_t address) const;

  std::vector<Allocation> all_;
  std::map<std::uint64_t, std::size_t> live_;  // by address
  std::vector<Malloc> mallocs_;
  std::uint64_t launches_ = 0, numbered_ = 0;
};

}  // namespace weft::check

#endif
