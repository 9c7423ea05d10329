// The workloads that this program was built with.
#ifndef WEFT_WORKLOADS_REGISTRY_H
#define WEFT_WORKLOADS_REGISTRY_H

#include <memory>
#include <vector>

namespace weft::workloads {

class Workload;

struct Registered {
  const char* name;  // of the folder
  std::unique_ptr<Workload> (*make)();
  const char* const* ptx;       // compiled from NAME.cu and embedded
  const char* const* nvcc_ptx;  // nvcc/NAME.ptx, embedded; nullptr: no such file
};

// In alphabetical order.
const std::vector<Registered>& registry();

}  // namespace weft::workloads

#endif
