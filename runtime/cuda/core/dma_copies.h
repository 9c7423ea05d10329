// Copies of streams by the GPU's DMA engine, in simulated time.
#ifndef WEFT_RUNTIME_CUDA_CORE_DMA_COPIES_H
#define WEFT_RUNTIME_CUDA_CORE_DMA_COPIES_H

#include <cstdint>
#include <functional>

#include "runtime/copy_engine.h"

namespace weft::cuda {

class Context;

class DmaCopies final : public runtime::CopyEngine {
 public:
  explicit DmaCopies(Context& context) : context_(context) {}
  // A copy that the bus refuses is a fault of the context.
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::function<void()> done) override;

 private:
  Context& context_;
};

}  // namespace weft::cuda

#endif
