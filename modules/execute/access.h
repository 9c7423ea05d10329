// One access to memory: the instruction, the threads of one chunk that execute it, and where each of them
// goes. It is handed on whole, from the operands to the record, to an observer, and to the words of a fault.
#ifndef WEFT_EXECUTE_ACCESS_H
#define WEFT_EXECUTE_ACCESS_H

#include <algorithm>
#include <cstdint>

#include "execute/kernel.h"
#include "isa/address_span.h"
#include "isa/isa.h"
#include "weft/ptx/program.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::execute {

// A block that is resident in a slot. Its threads are in warps of 32, by number. A chunk of the SM holds one
// of them. Where warps of a block are spread over scheduler domains, the chunks of a domain are neighbours:
// first those of the warps 0, n, 2n, ... for n domains, then those of 1, n + 1, ... Chunks without threads,
// which fill a block up to whole warps of the scheme, follow.
struct ResidentBlock {
  bool live = false;
  std::uint16_t slot = 0;
  std::uint16_t first_chunk = 0;
  std::uint16_t domain = 0;        // of warp 0 ...
  std::uint16_t domain_count = 1;  // ... and over how many the warps are spread, in turn
  std::uint32_t threads = 0;
  std::uint32_t live_threads = 0;
  dispatch::Dim3 index{};  // %ctaid

  unsigned warps() const { return (threads + isa::kLanes - 1) / isa::kLanes; }
  unsigned chunk_of(unsigned warp) const {
    if (domain_count == 1 || warp >= warps()) return first_chunk + warp;
    return first_of_part(warp % domain_count) + warp / domain_count;
  }
  unsigned warp_of(unsigned chunk) const {
    if (domain_count == 1 || chunk >= first_chunk + warps()) return chunk - first_chunk;
    const unsigned part = part_of(chunk);
    return (chunk - first_of_part(part)) * domain_count + part;
  }
  std::uint32_t thread_of(unsigned chunk, unsigned lane) const { return warp_of(chunk) * isa::kLanes + lane; }
  unsigned domain_of(unsigned chunk) const {
    return domain_count == 1 ? domain : domain_of_part(part_of(chunk));
  }

  // A part for each domain that has warps of the block, numbered from warp 0's on.
  unsigned parts() const { return domain_count == 1 ? 1 : std::min<unsigned>(domain_count, warps()); }
  unsigned domain_of_part(unsigned part) const {
    return domain_count == 1 ? domain : (domain + part) % domain_count;
  }
  // The block as the domain of a part sees it.
  warp_formation::Block part(unsigned part) const {
    if (domain_count == 1) return {slot, first_chunk, threads};
    const unsigned all = warps(), count = all / domain_count + (part < all % domain_count ? 1 : 0);
    std::uint32_t own = count * isa::kLanes;
    if ((all - 1) % domain_count == part) own -= all * isa::kLanes - threads;
    return {slot, static_cast<std::uint16_t>(first_of_part(part)), own};
  }

 private:
  unsigned first_of_part(unsigned part) const {
    const unsigned all = warps();
    return first_chunk + part * (all / domain_count) + std::min(part, all % domain_count);
  }
  unsigned part_of(unsigned chunk) const {
    const unsigned place = chunk - first_chunk, each = warps() / domain_count, more = warps() % domain_count;
    if (place < more * (each + 1)) return place / (each + 1);
    return more + (place - more * (each + 1)) / each;
  }
};

struct Access {
  const Operation& op;
  const ResidentBlock& block;
  ptx::Pc pc = 0;
  unsigned chunk = 0;      // of the SM's positions
  unsigned group = 0;      // its number among the groups of the issue
  std::uint32_t mask = 0;  // the threads that access
  ptx::Space space = ptx::Space::kGlobal;
  // 32 lanes; kShared, kLocal, kParam: offsets in the block's, the thread's, the kernel's own; else device
  // addresses, or generic ones.
  const std::uint64_t* address = nullptr;
  const isa::AddressSpan* span = nullptr;  // of these threads' addresses; nullptr: nobody has looked

  // The same of these threads only.
  Access of(std::uint32_t threads) const {
    Access access = *this;
    access.mask = threads;
    if (threads != mask) access.span = nullptr;
    return access;
  }
  // The same of these threads, who go to another space.
  Access in(ptx::Space where, const std::uint64_t* at, std::uint32_t threads) const {
    Access access = of(threads);
    access.space = where;
    access.address = at;
    if (at != address) access.span = nullptr;
    return access;
  }
};

}  // namespace weft::execute

#endif
