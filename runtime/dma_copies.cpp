#include "runtime/dma_copies.h"

#include <cstring>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "runtime/area_plan.h"
#include "weft/memory/memory_image.h"

namespace weft::runtime {

unsigned char* DmaCopies::at(std::uint64_t address) const {
  const memory::MemoryImage& memory = gpu_.memory();
  const std::uint64_t base = gpu_.device_base();
  if (address >= base && address - base < memory.bytes()) return memory.data() + (address - base);
  // System addresses are the host's pointers.
  auto* const host = reinterpret_cast<unsigned char*>(address);  // NOLINT(performance-no-int-to-ptr)
  return host;
}

void DmaCopies::refused(const host::DmaEngine::Outcome& outcome) {
  std::ostringstream text;
  text << "a copy was refused at 0x" << std::hex << outcome.failed_address;
  gpu_.abandon({FaultKind::kIllegalAddress, text.str()});
}

void DmaCopies::copy(const Area& to, const Area& from, const Box& box, std::function<void()> done) {
  if (is_consecutive(to, box) && is_consecutive(from, box)) {
    return copy_consecutive(to.address, from.address, box.bytes(), std::move(done));
  }
  gpu_.dma().run(std::make_unique<AreaPlan>(to, from, box),
                 [this, done = std::move(done)](const host::DmaEngine::Outcome& outcome) {
                   if (!outcome.done) refused(outcome);
                   done();
                 });
}

void DmaCopies::copy_consecutive(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                                 std::function<void()> done) {
  const bool overlap = from < to + bytes && to < from + bytes;
  std::vector<unsigned char> whole;
  if (overlap) whole.assign(at(from), at(from) + bytes);
  gpu_.dma().copy(
      {from, to, bytes,
       [this, to, whole = std::move(whole), done = std::move(done)](const host::DmaEngine::Outcome& outcome) {
         if (!outcome.done) {
           refused(outcome);
         } else if (!whole.empty()) {
           std::memcpy(at(to), whole.data(), whole.size());
         }
         done();
       }});
}

void DmaCopies::fill(const Area& to, const Box& box, std::uint32_t pattern, std::function<void()> done) {
  Box rows = box;
  if (is_consecutive(to, box)) rows = {box.bytes(), 1, 1};
  gpu_.dma().run(std::make_unique<AreaPlan>(to, rows, pattern),
                 [this, done = std::move(done)](const host::DmaEngine::Outcome& outcome) {
                   if (!outcome.done) refused(outcome);
                   done();
                 });
}

}  // namespace weft::runtime
