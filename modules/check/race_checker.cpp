#include "check/race_checker.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "common/hex.h"

namespace weft::check {
namespace {

bool is_strong(const ptx::Instruction& in) {
  const bool atomic = in.op == ptx::Opcode::kAtom || in.op == ptx::Opcode::kRed;
  const bool ordered = (in.op == ptx::Opcode::kLd || in.op == ptx::Opcode::kSt) && in.mode == ptx::Mode::kAll;
  return atomic || ordered || in.is_volatile;
}

// The bytes that a lane stores.
void stored_bytes(const execute::ObservedAccess& access, unsigned lane, std::uint8_t* bytes) {
  const ptx::Instruction& in = *access.op.instruction;
  const unsigned element = ptx::bytes_of(in.type);
  const unsigned cell = element == 8 ? 8 : 4;
  for (unsigned e = 0; e < in.vector; ++e) {
    const execute::Source& source = access.op.src[e + 1];
    const auto* lanes = source.kind == execute::Source::Kind::kConstant
                            ? static_cast<const std::uint8_t*>(source.constant)
                            : reinterpret_cast<const std::uint8_t*>(access.registers + source.offset);
    std::memcpy(bytes + e * element, lanes + std::size_t{lane} * cell, element);
  }
}

}  // namespace

RaceChecker::RaceChecker(std::uint64_t base, std::uint64_t bytes, const AllocationLog& allocations,
                         ReportLog& log)
    : base_(base), allocations_(allocations), log_(log), pages_((bytes + kPageBytes - 1) / kPageBytes) {}

void RaceChecker::reset() {
  for (auto& page : pages_) page.reset();
  slots_.clear();
  released_.clear();
}

void RaceChecker::kernel_started(const execute::Kernel& kernel, unsigned sms) {
  ++launch_;
  released_.clear();
  grid_ = kernel.launch.grid;
  slots_per_sm_ = kernel.occupancy.resident;
  slots_.resize(std::max(slots_.size(), std::size_t{sms} * slots_per_sm_));
  const std::uint64_t pages = (kernel.shared_bytes + kPageBytes - 1) / kPageBytes;
  for (Slot& slot : slots_) slot.shared.resize(pages);
}

RaceChecker::Slot& RaceChecker::slot_of(unsigned sm, const execute::ResidentBlock& block) {
  return slots_[sm * slots_per_sm_ + block.slot];
}

void RaceChecker::block_started(unsigned sm, const execute::ResidentBlock& block) {
  Slot& slot = slot_of(sm, block);
  slot.clock.start(block.threads);
  slot.block = number_in(grid_, block.index);
  slot.releases.start(slot.block, block.threads);
  slot.released.clear();
  for (Page& page : slot.shared) page.launch = 0;
}

void RaceChecker::barrier_arrived(unsigned sm, const execute::ResidentBlock& block, unsigned barrier,
                                  unsigned chunk, std::uint32_t mask, bool waits) {
  Slot& slot = slot_of(sm, block);
  const std::uint32_t first = block.thread_of(chunk, 0);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    slot.releases.arrive(barrier, first + static_cast<std::uint32_t>(__builtin_ctz(rest)), waits, slot.clock);
  slot.clock.arrive(barrier, block.warp_of(chunk), mask, waits);
}

void RaceChecker::barrier_released(unsigned sm, const execute::ResidentBlock& block, unsigned barrier,
                                   bool whole) {
  Slot& slot = slot_of(sm, block);
  slot.releases.release(barrier);
  slot.clock.release(barrier, whole);
}

void RaceChecker::warp_synchronised(unsigned sm, const execute::ResidentBlock& block, unsigned chunk,
                                    std::uint32_t mask) {
  Slot& slot = slot_of(sm, block);
  slot.releases.synchronise(block.thread_of(chunk, 0), mask, slot.clock);
  slot.clock.synchronise(block.warp_of(chunk), mask);
}

void RaceChecker::ordered(const execute::ObservedOrder& order) {
  const ptx::Instruction& in = order.kernel->program.code[order.pc];
  if (in.op != ptx::Opcode::kMembar) return;
  Slot& slot = slot_of(order.sm, *order.block);
  const std::uint32_t first = order.block->thread_of(order.chunk, 0);
  for (std::uint32_t rest = order.mask; rest != 0; rest &= rest - 1)
    slot.releases.fence(first + static_cast<std::uint32_t>(__builtin_ctz(rest)), in.mode == ptx::Mode::kAll,
                        slot.clock);
}

// What the thread's strong access releases and acquires.
void RaceChecker::hand_over(const execute::ObservedAccess& access, unsigned lane, std::uint64_t offset) {
  const ptx::Instruction& in = *access.op.instruction;
  BlockReleases& releases = slot_of(access.sm, access.block).releases;
  const std::uint32_t thread = thread_of(access, lane);
  using Kind = execute::ObservedAccess::Kind;
  BlockReleases::Strong how;
  how.reads = access.kind != Kind::kStore;
  how.writes = access.kind != Kind::kLoad;
  how.acquires = in.acquires;
  how.releases = in.releases;
  if (in.atomic == ptx::Atomic::kCas) {  // one that fails writes nothing
    std::uint8_t compared[16] = {};
    stored_bytes(access, lane, compared);
    how.writes = std::memcmp(compared, access.memory + offset, access.bytes) == 0;
  }
  ReleasedWords& words = words_of(access);
  auto word = words.find(offset / 4);
  if (word == words.end()) {
    if (!releases.publishes(thread, how)) return;
    word = words.try_emplace(offset / 4).first;
  }
  releases.access(thread, how, word->second, slot_of(access.sm, access.block).clock);
}

ReleasedWords& RaceChecker::words_of(const execute::ObservedAccess& access) {
  return access.space == ptx::Space::kShared ? slot_of(access.sm, access.block).released : released_;
}

// Null for an address outside of its memory: that is the business of another check. Null for the system
// software's part of shared memory, which atomics order.
RaceChecker::Page* RaceChecker::page_of(const execute::ObservedAccess& access, std::uint64_t offset) {
  const std::uint64_t number = offset / kPageBytes;
  if (access.space == ptx::Space::kShared) {
    if (offset >= access.kernel->own_shared_bytes) return nullptr;
    auto& shared = slot_of(access.sm, access.block).shared;
    return number < shared.size() ? &shared[number] : nullptr;
  }
  if (number >= pages_.size()) return nullptr;
  if (pages_[number] == nullptr) pages_[number] = std::make_unique<Page>();
  return pages_[number].get();
}

// Who allocates during a launch hands the memory from one thread to another.
void RaceChecker::allocated(std::uint64_t address, std::uint64_t bytes) {
  for (std::uint64_t offset = address - base_, end = offset + bytes; offset < end;) {
    const std::uint64_t number = offset / kPageBytes;
    const std::uint64_t page_end = std::min(end, (number + 1) * kPageBytes);
    if (Page* page = pages_[number].get(); page != nullptr && page->launch == launch_) {
      for (; offset < page_end; ++offset) page->cells[offset % kPageBytes >> page->shift] = Cell();
    }
    offset = page_end;
  }
}

// Cells of this launch, fine enough for accesses of `size` bytes.
void RaceChecker::prepare(Page& page, std::uint64_t size) {
  if (page.launch != launch_) {
    page.launch = launch_;
    page.shift = 2;
    page.cells.assign(kPageBytes >> page.shift, Cell());
  }
  if (size >= 4 || page.shift == 0) return;
  std::vector<Cell> bytes(kPageBytes);
  for (unsigned i = 0; i < kPageBytes; ++i) bytes[i] = page.cells[i >> page.shift];
  page.cells = std::move(bytes);
  page.shift = 0;
}

void RaceChecker::access(const execute::ObservedAccess& access, std::uint32_t mask) {
  const bool shared = access.space == ptx::Space::kShared;
  if (!shared && access.space != ptx::Space::kGlobal)
    return;  // nobody else sees local memory, nobody writes the rest
  const ptx::Instruction& in = *access.op.instruction;
  const std::uint64_t size = access.bytes;
  const Slot& slot = slot_of(access.sm, access.block);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    const std::uint64_t offset = access.address[lane] - (shared ? 0 : base_);
    if ((offset & (size - 1)) != 0) continue;
    Page* page = page_of(access, offset);
    if (page == nullptr) continue;
    prepare(*page, size);
    const std::uint32_t thread = thread_of(access, lane);
    const Mark now{slot.block, slot.clock.own(thread), access.pc, static_cast<std::uint16_t>(thread),
                   is_strong(in)};
    const std::uint64_t first = offset % kPageBytes >> page->shift;
    const std::uint64_t last = (offset % kPageBytes + size - 1) >> page->shift;
    for (std::uint64_t i = first; i <= last; ++i) check(access, lane, page->cells[i], now, mask);
    if (now.strong) {
      hand_over(access, lane, offset);
    } else if (ReleasedWords& words = words_of(access);
               !words.empty() && access.kind != execute::ObservedAccess::Kind::kLoad) {
      words.erase(offset / 4);
    }
  }
}

bool RaceChecker::ordered(const Slot& slot, const Mark& before, const Mark& now) const {
  if (before.block != now.block)
    return before.clock <= slot.releases.known(now.thread, before.block, before.thread);
  return before.thread == now.thread || before.clock <= slot.clock.known(now.thread, before.thread);
}

void RaceChecker::remember(std::array<Mark, 2>& marks, const Mark& now) {
  if (marks[0].block != now.block || marks[0].thread != now.thread) marks[1] = marks[0];
  marks[0] = now;
}

void RaceChecker::check(const execute::ObservedAccess& access, unsigned lane, Cell& cell, const Mark& now,
                        std::uint32_t mask) {
  const Slot& slot = slot_of(access.sm, access.block);
  const bool writes = access.kind != execute::ObservedAccess::Kind::kLoad;
  const auto look = [&](const std::array<Mark, 2>& marks, bool were_writes) {
    for (const Mark& before : marks) {
      if (before.clock == 0 || (before.strong && now.strong) || ordered(slot, before, now)) continue;
      report(access, lane, before, were_writes, mask);
      return true;
    }
    return false;
  };
  if (!look(cell.writes, true) && writes) look(cell.reads, false);
  remember(writes ? cell.writes : cell.reads, now);
}

// Whether two plain stores wrote the same: then the race is there, but not what the memory holds afterwards.
bool RaceChecker::writes_equal(const execute::ObservedAccess& access, unsigned lane, const Mark& before,
                               std::uint32_t mask) const {
  std::uint8_t mine[16] = {}, other[16] = {};
  const std::uint64_t size = access.bytes;
  stored_bytes(access, lane, mine);
  const bool shared = access.space == ptx::Space::kShared;
  std::memcpy(other, access.memory + (access.address[lane] - (shared ? 0 : base_)), size);
  // The other store may be part of the same instruction, which has not happened yet.
  const std::uint32_t first = thread_of(access, 0);
  if (before.pc == access.pc && before.thread - first < isa::kLanes && before.thread >= first &&
      before.block == block_of(*access.kernel, access.block)) {
    const unsigned sibling = before.thread - first;
    if ((mask >> sibling & 1) != 0 && access.address[sibling] == access.address[lane]) {
      stored_bytes(access, sibling, other);
    }
  }
  return std::memcmp(mine, other, size) == 0;
}

void RaceChecker::report(const execute::ObservedAccess& access, unsigned lane, const Mark& before,
                         bool before_writes, std::uint32_t mask) {
  const execute::Kernel& kernel = *access.kernel;
  log_.add("race", kernel.program.name, access.pc, [&] {
    const ptx::Instruction& in = *access.op.instruction;
    const ptx::Instruction& earlier = kernel.program.code[before.pc];
    std::ostringstream out;
    out << describe(access, lane) << ", race with the " << verb_of(earlier) << " of "
        << thread_name(kernel, before.block, before.thread) << ", pc " << before.pc << ", "
        << kernel.program.place(before.pc) << ": no barrier between them";
    if (before_writes && in.op == ptx::Opcode::kSt && earlier.op == ptx::Opcode::kSt) {
      out << (writes_equal(access, lane, before, mask) ? "; both write the same value"
                                                       : "; they write different values");
    }
    out << "; at ";
    if (access.space == ptx::Space::kShared) {
      out << hex(access.address[lane]) << " in the block's shared memory";
    } else {
      out << allocations_.place(access.address[lane]);
    }
    return out.str();
  });
}

}  // namespace weft::check
