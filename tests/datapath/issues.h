// Issues for tests of datapaths, without a scheme that makes them.
#ifndef WEFT_TESTS_DATAPATH_ISSUES_H
#define WEFT_TESTS_DATAPATH_ISSUES_H

#include <utility>
#include <vector>

#include "datapath/datapath.h"

namespace weft::datapath::test {

using warp_formation::ThreadGroup;

// Keeps what an Issue points to.
struct Threads {
  Threads(unsigned rows, std::vector<ThreadGroup> threads) : groups(std::move(threads)) {
    issue.rows = static_cast<std::uint8_t>(rows);
    issue.groups = {groups.data(), static_cast<std::uint32_t>(groups.size())};
    for (const ThreadGroup& group : groups) executing.push_back(group.mask);
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  std::vector<ThreadGroup> groups;
  std::vector<std::uint32_t> executing;
  Issue issue;
};

// An instruction of a unit.
struct Work {
  explicit Work(ptx::Unit unit, unsigned latency = 1, unsigned interval = 1) {
    instruction.unit = unit;
    demand = {&instruction, static_cast<std::uint16_t>(latency), static_cast<std::uint16_t>(interval), unit};
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  ptx::Instruction instruction;
  Demand demand;
};

inline Times start(Datapath& datapath, Cycle now, const Work& work, const Threads& threads,
                   unsigned scheduler = 0) {
  return datapath.start(now, scheduler, work.demand, threads.issue, threads.executing.data());
}

}  // namespace weft::datapath::test

#endif
