#include "datapath/lane_registers.h"

#include <algorithm>

#include "weft/common/popcount.h"

namespace weft::datapath {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

void LaneRegisters::Slices::clear() {
  std::fill(used.begin(), used.end(), 0);
  std::fill(partial.begin(), partial.end(), 0);
  std::fill(warps.begin(), warps.end(), 0);
  next = 0;
}

void LaneRegisters::Slices::take(unsigned lane, std::uint64_t registers, bool is_partial) {
  used[lane] += registers;
  if (is_partial) partial[lane] += registers;
  ++warps[lane];
}

void LaneRegisters::Slices::give_back(unsigned lane, std::uint64_t registers, bool is_partial) {
  used[lane] -= registers;
  if (is_partial) partial[lane] -= registers;
  --warps[lane];
}

LaneRegisters::LaneRegisters(const Config& config, const Machine& machine, unsigned lanes, bool sliced)
    : machine_(machine),
      lanes_(lanes),
      sliced_(sliced),
      kept_(config.registers),
      binding_(config.binding_in_use()),
      slices_(sliced ? lanes : 1),
      warps_at_once_((machine.warps + slices_ - 1) / slices_),
      live_(lanes, 0) {
  slices_taken_.used.assign(slices_, 0);
  slices_taken_.partial.assign(slices_, 0);
  slices_taken_.warps.assign(slices_, 0);
  trial_ = slices_taken_;
}

void LaneRegisters::reset() {
  slices_taken_.clear();
  std::fill(lane_at_.begin(), lane_at_.end(), std::uint8_t{0});
  std::fill(first_at_.begin(), first_at_.end(), 0);
  std::fill(warps_.begin(), warps_.end(), Warp());
  std::fill(live_.begin(), live_.end(), 0);
}

std::uint64_t LaneRegisters::warp_registers(const BlockRegisters& block, std::uint64_t threads) const {
  if (kept_ == Registers::kThread) return block.per_thread * threads + block.per_warp;
  return round_up(block.per_thread * block.warp_size + block.per_warp, machine_.register_allocation_unit);
}

unsigned LaneRegisters::place(Slices& slices, std::uint64_t registers, std::uint64_t full) const {
  const std::uint64_t slice = this->slice();
  const auto fits = [&](unsigned lane) {
    return slices.warps[lane] < warps_at_once_ && slices.used[lane] + registers <= slice;
  };
  if (registers < full) {
    // Beside partial warps, in the room of one warp that they share.
    for (unsigned lane = 0; lane < slices_; ++lane) {
      const std::uint64_t taken = slices.partial[lane];
      if (taken == 0 || round_up(taken, full) - taken < registers || !fits(lane)) continue;
      slices.take(lane, registers, true);
      return lane;
    }
  }
  const bool by_slot = binding_ == Binding::kSlot, fewest = binding_ == Binding::kFewest;
  unsigned chosen = kNone;
  for (unsigned i = 0; i < (by_slot ? 1 : slices_); ++i) {
    const unsigned lane = fewest ? i : (slices.next + i) % slices_;
    if (!fits(lane) || (chosen != kNone && slices.warps[lane] >= slices.warps[chosen])) continue;
    chosen = lane;
    if (!fewest) break;
  }
  if (chosen == kNone) return kNone;
  slices.take(chosen, registers, registers < full);
  slices.next = (chosen + 1) % slices_;
  return chosen;
}

void LaneRegisters::begin_block(Slices& slices, unsigned slot, const BlockRegisters& block) const {
  if (binding_ != Binding::kSlot) return;
  const std::uint64_t warps = (block.threads + block.warp_size - 1) / block.warp_size;
  slices.next = static_cast<unsigned>(slot * warps % slices_);
}

bool LaneRegisters::place_block(Slices& slices, unsigned slot, const BlockRegisters& block) const {
  begin_block(slices, slot, block);
  const std::uint64_t full = warp_registers(block, block.warp_size);
  for (std::uint64_t first = 0; first < block.threads; first += block.warp_size) {
    const std::uint64_t threads = std::min(block.warp_size, block.threads - first);
    if (place(slices, warp_registers(block, threads), full) == kNone) return false;
  }
  return true;
}

// Full warps are spread evenly, and a partial one comes last: beside as few of them as there are on a lane.
std::uint64_t LaneRegisters::needed(const BlockRegisters& block) const {
  const std::uint64_t full = warp_registers(block, block.warp_size);
  const std::uint64_t rest = block.threads % block.warp_size;
  const std::uint64_t last = rest == 0 ? 0 : warp_registers(block, rest);
  const std::uint64_t warps = block.threads / block.warp_size;
  const std::uint64_t fewest = warps / slices_, most = (warps + slices_ - 1) / slices_;
  return std::max(most * full, fewest * full + last) * slices_;
}

RegisterFit LaneRegisters::fit(const BlockRegisters& block) const {
  RegisterFit result;
  result.needed = needed(block);
  if (sliced_) {
    result.warp = warp_registers(block, std::min(block.threads, block.warp_size));
    result.slice = slice();
    result.slices = slices_;
  }
  if (result.needed == 0) {
    result.blocks = UINT64_MAX;
    return result;
  }
  trial_.clear();
  // More than there are slots for are no matter.
  while (result.blocks <= machine_.slots && place_block(trial_, static_cast<unsigned>(result.blocks), block))
    ++result.blocks;
  if (result.blocks > machine_.slots) result.blocks = UINT64_MAX;
  if (gives_back_at_exit() && result.blocks != 0) result.resident = UINT64_MAX;
  return result;
}

bool LaneRegisters::can_hold(unsigned slot, const BlockRegisters& block) const {
  trial_ = slices_taken_;
  return place_block(trial_, slot, block);
}

void LaneRegisters::hold(const Block& block, const BlockRegisters& registers) {
  warp_size_ = static_cast<unsigned>(registers.warp_size);
  per_chunk_ = std::max(1u, warp_formation::kChunk / warp_size_);
  const unsigned chunks_of_warp = std::max(1u, warp_size_ / warp_formation::kChunk);
  const std::uint64_t warps = (block.threads + registers.warp_size - 1) / registers.warp_size;
  const std::size_t first = std::size_t{block.first_chunk} * per_chunk_;
  const std::size_t end = round_up(first + warps * chunks_of_warp, per_chunk_);
  if (end > lane_at_.size()) {
    lane_at_.resize(end, 0);
    first_at_.resize(end, 0);
    warps_.resize(end);
  }
  const std::uint64_t full = warp_registers(registers, registers.warp_size);
  begin_block(slices_taken_, block.slot, registers);
  for (std::uint64_t w = 0; w < warps; ++w) {
    Warp warp;
    warp.threads =
        static_cast<std::uint32_t>(std::min(registers.warp_size, block.threads - w * registers.warp_size));
    warp.registers = warp_registers(registers, warp.threads);
    warp.partial = warp.registers < full;
    warp.holds = true;
    const unsigned lane = place(slices_taken_, warp.registers, full);
    // Without slices a warp gets its lane when it runs; until then the lanes take turns.
    warp.lane = static_cast<std::uint8_t>(sliced_ ? lane : w % lanes_);
    ++live_[warp.lane];
    const std::size_t at = first + w * chunks_of_warp;
    for (unsigned c = 0; c < chunks_of_warp; ++c) {
      lane_at_[at + c] = warp.lane;
      first_at_[at + c] = static_cast<std::uint32_t>(at);
    }
    warps_[at] = warp;
  }
}

void LaneRegisters::give_back(Warp& warp) {
  if (!warp.holds) return;
  slices_taken_.give_back(sliced_ ? warp.lane : 0, warp.registers, warp.partial);
  warp.holds = false;
}

void LaneRegisters::release(const Block& block) {
  const unsigned chunks_of_warp = std::max(1u, warp_size_ / warp_formation::kChunk);
  const std::size_t first = std::size_t{block.first_chunk} * per_chunk_;
  const std::size_t warps = (block.threads + warp_size_ - 1) / warp_size_;
  for (std::size_t w = 0; w < warps; ++w) {
    Warp& warp = warps_[first + w * chunks_of_warp];
    if (warp.threads != 0) --live_[warp.lane];
    warp.threads = 0;
    give_back(warp);
  }
}

bool LaneRegisters::exited(unsigned chunk, std::uint32_t threads) {
  if (warp_size_ >= warp_formation::kChunk) return warp_exited(chunk, threads);
  bool freed = false;
  for (std::uint32_t warp = (1u << warp_size_) - 1; warp != 0; warp <<= warp_size_) {
    freed = warp_exited(chunk, threads & warp) || freed;
  }
  return freed;
}

bool LaneRegisters::warp_exited(unsigned chunk, std::uint32_t threads) {
  const std::size_t place = place_of(chunk, threads);
  if (threads == 0 || place >= first_at_.size()) return false;
  Warp& warp = warps_[first_at_[place]];
  warp.threads -= count_of(threads);
  if (warp.threads != 0) return false;
  --live_[warp.lane];
  if (!gives_back_at_exit()) return false;
  give_back(warp);
  return true;
}

void LaneRegisters::move(unsigned chunk, std::uint32_t threads, unsigned lane) {
  const std::size_t place = place_of(chunk, threads);
  if (place >= first_at_.size()) return;
  Warp& warp = warps_[first_at_[place]];
  if (warp.lane == lane || warp.threads == 0) return;
  --live_[warp.lane];
  ++live_[lane];
  warp.lane = static_cast<std::uint8_t>(lane);
  const unsigned chunks_of_warp = std::max(1u, warp_size_ / warp_formation::kChunk);
  for (unsigned c = 0; c < chunks_of_warp; ++c)
    lane_at_[first_at_[place] + c] = static_cast<std::uint8_t>(lane);
}

}  // namespace weft::datapath
