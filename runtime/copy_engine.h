// Who moves bytes for copies in streams, in simulated time: a DMA engine.
#ifndef WEFT_RUNTIME_COPY_ENGINE_H
#define WEFT_RUNTIME_COPY_ENGINE_H

#include <cstdint>
#include <functional>

namespace weft::runtime {

class CopyEngine {
 public:
  virtual ~CopyEngine() = default;
  // Copies `bytes` bytes; both addresses are the GPU's: of device memory, or of system memory (a host
  // pointer). Calls `done` once, at the instant at which all are there: not from within this call.
  virtual void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                    std::function<void()> done) = 0;
};

}  // namespace weft::runtime

#endif
