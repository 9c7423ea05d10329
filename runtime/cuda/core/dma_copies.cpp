#include "runtime/cuda/core/dma_copies.h"

#include <sstream>
#include <utility>

#include "host/dma_engine.h"
#include "runtime/cuda/core/context.h"
#include "runtime/device.h"

namespace weft::cuda {

void DmaCopies::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::function<void()> done) {
  const auto ended = [this, tell = std::move(done)](const host::DmaEngine::Outcome& outcome) {
    if (!outcome.done) {
      std::ostringstream text;
      text << "a copy found no memory at 0x" << std::hex << outcome.failed_address;
      context_.fault(text.str());
    }
    tell();
  };
  context_.device().gpu().dma().copy({from, to, bytes, ended});
}

}  // namespace weft::cuda
