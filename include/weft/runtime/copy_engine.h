// Who moves bytes for copies in streams, in simulated time: a DMA engine.
#ifndef WEFT_RUNTIME_COPY_ENGINE_H
#define WEFT_RUNTIME_COPY_ENGINE_H

#include <cstdint>
#include <functional>

#include "weft/runtime/areas.h"

namespace weft::runtime {

class CopyEngine {
 public:
  virtual ~CopyEngine() = default;
  // Copies the box, which is not empty; addresses are the GPU's: of device memory, or of system memory (a
  // host pointer). Calls `done` once, at the instant at which all are there: not from within this call.
  virtual void copy(const Area& to, const Area& from, const Box& box, std::function<void()> done) = 0;
  // Writes `pattern`, of 4 bytes, again and again, from the begin of each row on.
  virtual void fill(const Area& to, const Box& box, std::uint32_t pattern, std::function<void()> done) = 0;
};

}  // namespace weft::runtime

#endif
