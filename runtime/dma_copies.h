// Copies and fills in streams by the GPU's DMA engine: they take simulated time, and the buses' time.
//
//   runtime::DmaCopies copies(device.gpu());
//   device.use(&copies);
//
// The host's memory is system memory at its pointers (DeviceOptions::host_memory); what is copied from or to
// it must be shared (Device::share). A copy that the bus refuses ends all launches with a fault that says
// where.
#ifndef WEFT_RUNTIME_DMA_COPIES_H
#define WEFT_RUNTIME_DMA_COPIES_H

#include "host/dma_engine.h"
#include "weft/platform/gpu.h"
#include "weft/runtime/copy_engine.h"

namespace weft::runtime {

class DmaCopies final : public CopyEngine {
 public:
  explicit DmaCopies(Gpu& gpu) : gpu_(gpu) {}
  // Bytes that follow each other may overlap: they take their time too, but move as a whole when it is over.
  void copy(const Area& to, const Area& from, const Box& box, std::function<void()> done) override;
  void fill(const Area& to, const Box& box, std::uint32_t pattern, std::function<void()> done) override;

 private:
  unsigned char* at(std::uint64_t address) const;
  void copy_consecutive(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                        std::function<void()> done);
  void refused(const host::DmaEngine::Outcome& outcome);

  Gpu& gpu_;
};

}  // namespace weft::runtime

#endif
