#include "runtime/dma_copies.h"

#include <cstring>
#include <sstream>
#include <utility>
#include <vector>

#include "gddr5/memory_image.h"
#include "host/dma_engine.h"

namespace weft::runtime {

unsigned char* DmaCopies::at(std::uint64_t address) const {
  const gddr5::MemoryImage& memory = gpu_.memory();
  const bool device = address >= kDeviceBase && address - kDeviceBase < memory.bytes();
  if (device) return memory.data() + (address - kDeviceBase);
  // System addresses are the host's pointers.
  auto* const host = reinterpret_cast<unsigned char*>(address);  // NOLINT(performance-no-int-to-ptr)
  return host;
}

void DmaCopies::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::function<void()> done) {
  const bool overlap = from < to + bytes && to < from + bytes;
  std::vector<unsigned char> whole;
  if (overlap) whole.assign(at(from), at(from) + bytes);
  gpu_.dma().copy(
      {from, to, bytes,
       [this, to, whole = std::move(whole), done = std::move(done)](const host::DmaEngine::Outcome& outcome) {
         if (!outcome.done) {
           std::ostringstream text;
           text << "a copy was refused at 0x" << std::hex << outcome.failed_address;
           gpu_.abandon(text.str());
         } else if (!whole.empty()) {
           std::memcpy(at(to), whole.data(), whole.size());
         }
         done();
       }});
}

}  // namespace weft::runtime
