// Runs one kernel with checks on, in every mode, and gives back what was reported.
#ifndef WEFT_TESTS_CHECK_CHECK_BENCH_H
#define WEFT_TESTS_CHECK_CHECK_BENCH_H

#include <functional>
#include <string>
#include <vector>

#include "platform/gpu_bench.h"

namespace weft::test {

struct Mode {
  const char* name;
  bool functional;
  const char* dependence;  // of timed runs
};
inline constexpr Mode kModes[] = {
    {"functional", true, "scoreboard"}, {"scoreboard", false, "scoreboard"}, {"barrel", false, "barrel"}};

// One line per report: "kind | count | text", and the fault if there was one. In a process of its own.
std::string reports_of(const Mode& mode, const check::Options& check,
                       const std::function<void(GpuBench&)>& work);

// The PC of the n-th instruction of a kind in kernel "k" of a text, counted from 0.
ptx::Pc pc_of(const std::string& text, ptx::Opcode op, unsigned n = 0);

}  // namespace weft::test

#endif
