#include "warp_formation/dwf_pool.h"

#include <algorithm>

#include "warp_formation/powers.h"
#include "weft/common/popcount.h"

namespace weft::warp_formation {
namespace {}  // namespace

DwfPool::DwfPool(const DwfOptions& options, std::uint64_t warp_size, const Geometry& geometry)
    : options_(options),
      warp_size_(warp_size),
      geometry_(geometry),
      lanes_(std::min<unsigned>(geometry.lanes, static_cast<unsigned>(warp_size))),
      rows_(static_cast<unsigned>(warp_size) / lanes_),
      warps_(geometry.threads, Warp(rows_, geometry.home)),
      parked_(geometry.slots),
      lut_(options.lut_entries, options.lut_ways, geometry.slots, geometry.threads),
      order_(options) {
  free_.reserve(warps_.size());
  left_.reserve(kMaxWarpSize);
  clear();
}

void DwfPool::attach(const ptx::Program& program) {
  order_.attach(program.code.size());
  present_.assign(program.code.size() * geometry_.slots, 0);
  if (options_.heuristic != DwfHeuristic::kPdomPriority) return;
  reconvergence_.assign(program.code.size(), false);
  for (const auto& instruction : program.code) {
    if (instruction.is_branch() && instruction.plain_reconvergence != ptx::kNoPc)
      reconvergence_[instruction.plain_reconvergence] = true;
  }
}

void DwfPool::clear() {
  free_.clear();
  for (auto w = static_cast<std::uint32_t>(warps_.size()); w-- > 0;) {
    warps_[w] = Warp(rows_, geometry_.home);
    free_.push_back(w);
  }
  std::fill(parked_.begin(), parked_.end(), List());
  waiting = {};
  lut_.clear();
  order_.clear();
  std::fill(present_.begin(), present_.end(), std::uint16_t{0});
  created_ = 0;
  live_ = threads_ = 0;
  counters_ = {};
}

void DwfPool::start(const Block& block) {
  if (options_.heuristic != DwfHeuristic::kPdomPriority) return;
  const std::size_t first = std::size_t{block.first_chunk} * kChunk;
  if (passed_.size() < first + block.threads) passed_.resize(first + block.threads);
  std::fill_n(passed_.begin() + static_cast<std::ptrdiff_t>(first), block.threads, 0u);
}

std::uint32_t DwfPool::allocate(const Place& place, std::uint16_t hint) {
  const std::uint32_t w = free_.back();
  free_.pop_back();
  Warp& warp = warps_[w];
  warp.packed.clear();
  warp.place = place;
  warp.rank = WarpRank();
  warp.rank.pc = place.pc;
  warp.rank.order = ++created_;
  warp.entry = nullptr;
  warp.context = kNoContext;
  warp.hint = hint;
  warp.since = kNoEvent;
  ++present_[place.pc * geometry_.slots + place.slot];
  return w;
}

void DwfPool::append(List& list, std::uint32_t w) {
  warps_[w].previous = list.last;
  warps_[w].next = kNone;
  (list.last == kNone ? list.first : warps_[list.last].next) = w;
  list.last = w;
}

void DwfPool::unlist(List& list, std::uint32_t w) {
  const Warp& warp = warps_[w];
  (warp.previous == kNone ? list.first : warps_[warp.previous].next) = warp.next;
  (warp.next == kNone ? list.last : warps_[warp.next].previous) = warp.previous;
}

// A new warp may be issued from now on.
void DwfPool::enter(std::uint32_t w, WarpLut::Entry* entry) {
  Warp& warp = warps_[w];
  warp.entry = entry;
  append(waiting, w);
  ++live_;
  order_.appeared(warp.rank);
}

void DwfPool::join(std::uint32_t w, unsigned threads) {
  warps_[w].rank.threads = static_cast<std::uint16_t>(warps_[w].rank.threads + threads);
  threads_ += threads;
}

bool DwfPool::update(const Place& place, const Piece* pieces, std::size_t count, unsigned path,
                     std::uint16_t hint) {
  WarpLut::Entry* entry = lut_.lookup(place);
  if (entry == nullptr) {
    ++counters_.port_conflicts;
    return false;
  }
  const bool hit = entry->place == place;
  ++counters_.lut.reads;
  if (!hit) {
    if (!lut_.perfect()) ++counters_.lut_aliased;
    if (present_[place.pc * geometry_.slots + place.slot] != 0) ++counters_.lut_realmiss;
  }
  unsigned threads = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (pieces[i].path == path) threads += count_of(pieces[i].mask);
  }
  const MajorityHeap::Node node = order_.joined(place.pc, threads);
  std::uint32_t passed = 0;
  if (options_.heuristic == DwfHeuristic::kPdomPriority) passed = most_passed(pieces, count, path);

  // Into the newest warp of the place, if there is one; who finds no lane there, into a new one.
  left_.clear();
  if (hit) {
    Warp& newest = warps_[entry->warp];
    const unsigned before = newest.packed.threads();
    for (std::size_t i = 0; i < count; ++i) {
      if (pieces[i].path != path) continue;
      const std::uint32_t rest = newest.packed.pack(lanes_, pieces[i].chunk, pieces[i].mask);
      if (rest != 0) left_.push_back({rest, pieces[i].chunk, pieces[i].path});
    }
    const unsigned joined = newest.packed.threads() - before;
    counters_.merged_threads += joined;
    join(entry->warp, joined);
    if (joined != 0) ++counters_.pool.writes;
    if (joined != 0) newest.rank.passed = std::max(newest.rank.passed, passed);
    if (left_.empty()) return true;
    ++counters_.warp_merge_conflict;
    if (before + threads <= warp_size_) ++counters_.warp_fragmentation;
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      if (pieces[i].path == path) left_.push_back(pieces[i]);
    }
  }
  while (!left_.empty()) {
    const std::uint32_t w = allocate(place, hint);
    Warp& warp = warps_[w];
    warp.rank.node = node;
    warp.rank.passed = passed + (!reconvergence_.empty() && reconvergence_[place.pc] ? 1 : 0);
    std::size_t kept = 0;
    for (auto& piece : left_) {
      piece.mask = warp.packed.pack(lanes_, piece.chunk, piece.mask);
      if (piece.mask != 0) left_[kept++] = piece;
    }
    left_.resize(kept);
    join(w, warp.packed.threads());
    lut_.lead(*entry, place, w);
    ++counters_.lut.writes;
    ++counters_.pool.writes;
    enter(w, entry);
  }
  return true;
}

std::uint32_t DwfPool::most_passed(const Piece* pieces, std::size_t count, unsigned path) const {
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (pieces[i].path != path) continue;
    for (std::uint32_t rest = pieces[i].mask; rest != 0; rest &= rest - 1)
      most = std::max(most, passed_[pieces[i].chunk * kChunk + static_cast<unsigned>(__builtin_ctz(rest))]);
  }
  return most;
}

void DwfPool::park(const Place& place, Groups groups, std::uint8_t barrier, std::uint16_t hint) {
  left_.clear();
  for (const auto& group : groups) left_.push_back({group.mask, group.chunk, 0});
  while (!left_.empty()) {
    const std::uint32_t w = allocate(place, hint);
    Warp& warp = warps_[w];
    std::size_t kept = 0;
    for (auto& piece : left_) {
      piece.mask = warp.packed.pack(lanes_, piece.chunk, piece.mask);
      if (piece.mask != 0) left_[kept++] = piece;
    }
    left_.resize(kept);
    warp.barrier = barrier;
    warp.rank.threads = static_cast<std::uint16_t>(warp.packed.threads());
    append(parked_[place.slot], w);
  }
}

unsigned DwfPool::release(std::uint16_t slot, unsigned barrier) {
  unsigned threads = 0;
  List& list = parked_[slot];
  for (std::uint32_t w = list.first; w != kNone;) {
    const std::uint32_t next = warps_[w].next;
    Warp& warp = warps_[w];
    if (warp.barrier == barrier) {
      unlist(list, w);
      warp.rank.released = true;
      threads += warp.rank.threads;
      threads_ += warp.rank.threads;
      enter(w, nullptr);
    }
    w = next;
  }
  return threads;
}

void DwfPool::take(std::uint32_t w) {
  ++counters_.pool.reads;
  Warp& warp = warps_[w];
  lut_.invalidate(warp.entry, w);
  order_.left(warp.rank);
  if (options_.heuristic == DwfHeuristic::kPdomPriority) {
    for (const auto& group : warp.packed.groups()) {
      for (std::uint32_t rest = group.mask; rest != 0; rest &= rest - 1)
        passed_[group.chunk * kChunk + static_cast<unsigned>(__builtin_ctz(rest))] = warp.rank.passed;
    }
  }
  --present_[warp.place.pc * geometry_.slots + warp.place.slot];
  threads_ -= warp.rank.threads;
  --live_;
  free_.push_back(w);
}

// A pool entry: PC, per place of the warp a valid bit and the thread without its lane, the next warp of the
// same PC.
std::uint64_t DwfPool::pool_bits() const {
  const unsigned thread = bits_for(geometry_.threads) - bits_for(lanes_);
  return std::uint64_t{geometry_.threads} *
         (kPcBits + warp_size_ * (thread + 1) + bits_for(geometry_.threads));
}

// A LUT entry: valid bit, PC without the bits that choose the set, warp of the pool, places taken in it. None
// for the table that never misses.
std::uint64_t DwfPool::lut_bits() const {
  if (lut_.perfect()) return 0;
  const std::uint64_t entry = 1 + kPcBits - bits_for(lut_.sets()) + bits_for(geometry_.threads) + warp_size_;
  return options_.lut_entries * entry;
}

storage::Arrays DwfPool::arrays() const {
  storage::Arrays arrays;
  const std::uint64_t warp = bits_for(geometry_.threads);
  const std::uint64_t thread = warp - bits_for(lanes_);
  add(arrays, storage::ram("pool", geometry_.threads, kPcBits + warp_size_ * (thread + 1) + warp));
  const auto table = [&](const std::string& part, std::uint64_t entries, std::uint64_t ways,
                         std::uint64_t data, const storage::Ports& ports) {
    add(arrays, storage::tags(part, entries, 1 + kPcBits - bits_for(entries / ways), ways).with_ports(ports));
    add(arrays, storage::ram(part, entries, data, ways).with_ports(ports));
  };
  if (!lut_.perfect()) table("lut", options_.lut_entries, options_.lut_ways, warp + warp_size_, {});
  if (options_.heuristic != DwfHeuristic::kMajorityHeap) return arrays;
  const auto& heap = options_.heap;
  const storage::Ports ports{0, heap.reads, heap.writes};
  add(arrays,
      storage::ram("heap", heap.nodes, kPcBits + 3 * warp + bits_for(heap.lut_entries)).with_ports(ports));
  table("heap_lut", heap.lut_entries, heap.lut_ways, bits_for(heap.nodes), ports);
  return arrays;
}

// A node: PC, threads, first and last warp, entry of the table; an entry of the table: valid bit, PC without
// the set's bits, node.
std::uint64_t DwfPool::heap_bits() const {
  if (options_.heuristic != DwfHeuristic::kMajorityHeap) return 0;
  return options_.heap.nodes * heap_node_bits() + options_.heap.lut_entries * heap_lut_entry_bits();
}
std::uint64_t DwfPool::heap_node_bits() const {
  return kPcBits + 3 * bits_for(geometry_.threads) + bits_for(options_.heap.lut_entries);
}
std::uint64_t DwfPool::heap_lut_entry_bits() const {
  const auto& heap = options_.heap;
  return 1 + kPcBits - bits_for(heap.lut_entries / heap.lut_ways) + bits_for(heap.nodes);
}

}  // namespace weft::warp_formation
