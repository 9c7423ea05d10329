// Writes down the transactions on the hops of a GPU: a row for each and hop, with the times of its phases.
//
//   weft::TransactionTrace trace("trace.csv", {});
//   weft::Gpu::Options options;
//   options.observe(trace.hops(), trace.observer());
//   weft::Gpu gpu("gpu", config, options);
//   trace.begin(gpu);
//   ...                                            // run
//   trace.close();
//
// The columns are in platform/README.md. Time and results are what they are without it.
#ifndef WEFT_PLATFORM_TRANSACTION_TRACE_H
#define WEFT_PLATFORM_TRANSACTION_TRACE_H

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weft/platform/hop_observation.h"

namespace weft {

class Gpu;

// Which transactions are written down.
struct TransactionFilter {
  using Range = std::pair<std::uint64_t, std::uint64_t>;  // both ends included
  std::string hops = "*";                                 // as HopObservation::hops
  std::vector<Range> sms;                                 // that they are of; empty: all, and those of no SM
  std::vector<Range> addresses;                           // that they touch, as kernels see them; empty: all
  std::string kernel;  // that their SM runs; empty: all, and those of no SM
};

class TransactionTrace {
 public:
  // Creates the file. Throws InputError if that is impossible.
  TransactionTrace(const std::string& file, TransactionFilter filter);
  ~TransactionTrace();
  TransactionTrace(const TransactionTrace&) = delete;
  TransactionTrace& operator=(const TransactionTrace&) = delete;

  // For Gpu::Options::observe. The trace outlives the GPU's construction, and the GPU the trace's use.
  const std::string& hops() const;
  HopObserverFactory observer();
  // Before the simulation starts. Throws InputError if the filter names a hop or an SM that the GPU has not.
  void begin(const Gpu& gpu);
  // Writes transactions that are under way with the phases that they have, and closes the file; later ones
  // are not written down. Throws InputError if the file is not complete because it could not be written: the
  // run went on without it. A second call does nothing.
  void close();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace weft

#endif
