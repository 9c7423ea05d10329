// Traces of the kernels of divergence_kernels.h: which threads of a warp executed each point together.
//
// A file is text, compressed by gzip: a line "weft divergence 1"; lines "gpu NAME", "capability N.M", "driver
// N", "optimisation N" (of the driver's compiler; -1: its default), "target sm_N" (of the modules); then for
// each kernel "kernel NAME HASH STEADY", or "refused NAME HASH REASON". HASH is that of the module's text.
// STEADY is "steady" if all runs gave the same visits in the same order, "order" if only the order differed,
// else "masks". Then for each warp "warp N", N lines "POINT MASK [THREADS]" in the order of time, and "result
// HASH" of %v of all threads. Of kernels that wait, "result WENT_ON" and 32 words: threads that got what they
// waited for, and the turns of each. Numbers are hexadecimal, except N and POINT.
#ifndef WEFT_TESTS_SILICON_DIVERGENCE_H
#define WEFT_TESTS_SILICON_DIVERGENCE_H

#include <array>
#include <map>

#include "conformance/machine.h"
#include "silicon/divergence_kernels.h"

namespace weft::test::silicon {

// Threads that executed a point at the same clock, and the active mask that they read.
struct Visit {
  unsigned point = 0;
  std::uint32_t mask = 0, threads = 0;
  bool operator==(const Visit& other) const {
    return point == other.point && mask == other.mask && threads == other.threads;
  }
};

struct WarpTrace {
  std::vector<Visit> visits;              // in the order of time
  std::uint32_t result = 0;               // hash of %v, or threads that went on
  std::array<std::uint32_t, 32> turns{};  // of loops that wait
};

struct KernelTrace {
  std::string name, refused, steady;
  std::uint64_t text_hash = 0;
  std::vector<WarpTrace> warps;
};

struct Divergence {
  std::string gpu, capability, target;
  int driver = 0, optimisation = -1;
  std::vector<KernelTrace> kernels;
};

struct Limits {
  unsigned runs = 3;           // of each kernel
  std::uint32_t bound = 1000;  // turns of a loop that waits
};
// Runs kernels on the machine. gpu, capability, driver, optimisation and target are the caller's to fill in.
Divergence record(conformance::Machine& machine, const std::vector<DivergenceKernel>& kernels,
                  const Limits& limits);

// Both throw std::runtime_error with the file's name.
void write(const Divergence& divergence, const std::string& path);
Divergence read_divergence(const std::string& path);

// How points of one kernel agree: each visit of a point by a thread counts.
struct Agreement {
  std::size_t points = 0;
  std::size_t fewer = 0, more = 0, other = 0;  // silicon had only some of Weft's threads, more, other ones
  std::size_t warps = 0, same_order = 0;       // warps, and those with the same visits in the same order
  std::string wrong;                           // first thread whose path or result differs; "" if none
};
Agreement compare(const KernelTrace& silicon, const KernelTrace& weft);

}  // namespace weft::test::silicon

#endif
