// Which warp of its pool dynamic warp formation issues next: the issue heuristics of Fung et al. (MICRO 2007)
// as ranks, of which the lowest goes first.
#ifndef WEFT_WARP_FORMATION_DWF_ORDER_H
#define WEFT_WARP_FORMATION_DWF_ORDER_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "warp_formation/majority_heap.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

// Threads of the pool by PC.
class PcCounts {
 public:
  void attach(std::size_t instructions) {
    threads_.assign(instructions, 0);
    place_.assign(instructions, 0);
    pcs_.clear();
    pcs_.reserve(instructions);
  }
  void clear() {
    for (const ptx::Pc pc : pcs_) threads_[pc] = 0;
    pcs_.clear();
  }
  void add(ptx::Pc pc, unsigned threads) {
    if (threads_[pc] == 0) {
      place_[pc] = static_cast<std::uint32_t>(pcs_.size());
      pcs_.push_back(pc);
    }
    threads_[pc] += threads;
  }
  void remove(ptx::Pc pc, unsigned threads) {
    threads_[pc] -= threads;
    if (threads_[pc] != 0) return;
    pcs_[place_[pc]] = pcs_.back();
    place_[pcs_.back()] = place_[pc];
    pcs_.pop_back();
  }
  unsigned threads(ptx::Pc pc) const { return threads_[pc]; }
  std::size_t distinct() const { return pcs_.size(); }
  // The PC with most (or fewest) threads; the smaller of equals; kNoPc if there is none.
  ptx::Pc most() const {
    return best([](unsigned a, unsigned b) { return a > b; });
  }
  ptx::Pc fewest() const {
    return best([](unsigned a, unsigned b) { return a < b; });
  }

 private:
  template <class Better>
  ptx::Pc best(Better better) const {
    ptx::Pc found = ptx::kNoPc;
    for (const ptx::Pc pc : pcs_) {
      if (found == ptx::kNoPc || better(threads_[pc], threads_[found]) ||
          (threads_[pc] == threads_[found] && pc < found))
        found = pc;
    }
    return found;
  }
  std::vector<std::uint32_t> threads_;  // by PC
  std::vector<ptx::Pc> pcs_;            // with threads, in no order
  std::vector<std::uint32_t> place_;    // of each in pcs_
};

// What the order needs to know of a warp.
struct WarpRank {
  ptx::Pc pc = ptx::kNoPc;
  std::uint16_t threads = 0;
  std::uint32_t passed = 0;  // reconvergence points, for pdom_priority
  MajorityHeap::Node node = MajorityHeap::kNone;
  std::uint64_t order = 0;  // of creation
  bool released = false;    // from a barrier: before all heuristics
  bool overdue = false;     // has waited beyond the starvation limit: before everything
};

class IssueOrder {
 public:
  explicit IssueOrder(const DwfOptions& options) : heuristic_(options.heuristic), heap_(options.heap) {
    nodes_.assign(heap_.most_nodes() + 1, 0);
  }

  void attach(std::size_t instructions) {
    counts_.attach(instructions);
    clear();
  }
  void clear() {
    counts_.clear();
    heap_.clear();
    std::fill(nodes_.begin(), nodes_.end(), 0u);
    current_ = ptx::kNoPc;
    current_node_ = MajorityHeap::kNone;
  }

  // Threads join the pool; the result goes into the rank of a new warp.
  MajorityHeap::Node joined(ptx::Pc pc, unsigned threads) {
    counts_.add(pc, threads);
    return heuristic_ == DwfHeuristic::kMajorityHeap ? heap_.add(pc, threads) : MajorityHeap::kNone;
  }
  void appeared(const WarpRank& warp) {
    if (warp.node != MajorityHeap::kNone) ++nodes_[warp.node];
  }
  // The warp was issued. Those from a barrier were not counted: they go before any majority.
  void left(const WarpRank& warp) {
    if (warp.released) return;
    counts_.remove(warp.pc, warp.threads);
    if (warp.node != MajorityHeap::kNone) --nodes_[warp.node];
    if (heuristic_ != DwfHeuristic::kMajorityHeap && current_ == warp.pc && counts_.threads(warp.pc) == 0)
      current_ = ptx::kNoPc;
  }

  // Makes sure that there is a majority, where the heuristic has one. False: the heap is not up to date yet,
  // nothing can be chosen in this cycle.
  bool elect() {
    switch (heuristic_) {
      case DwfHeuristic::kMajority:
        if (current_ == ptx::kNoPc && counts_.distinct() != 0) set(counts_.most());
        return true;
      case DwfHeuristic::kMinority:
        if (current_ == ptx::kNoPc && counts_.distinct() != 0) set(counts_.fewest());
        return true;
      case DwfHeuristic::kMajorityHeap:
        while (nodes_[current_node_] == 0) {
          if (heap_.size() == 0) return true;
          if (!heap_.settled()) return false;
          current_node_ = heap_.elect();
          set(heap_.majority());
        }
        return true;
      default:
        return true;
    }
  }
  void pass(Cycle cycles) { heap_.pass(cycles); }
  MajorityHeap::Uses& heap_uses() { return heap_.uses(); }
  bool settled() const { return heap_.settled(); }

  bool before(const WarpRank& a, const WarpRank& b) const {
    const unsigned first = level(a), second = level(b);
    if (first != second) return first < second;
    if (first == kByHeuristic) {
      if (heuristic_ == DwfHeuristic::kPdomPriority && a.passed != b.passed) return a.passed < b.passed;
      if (heuristic_ == DwfHeuristic::kLowestPc && a.pc != b.pc) return a.pc < b.pc;
      const bool fuller = heuristic_ == DwfHeuristic::kPdomPriority || heuristic_ == DwfHeuristic::kLowestPc;
      if (fuller && a.threads != b.threads) return a.threads > b.threads;
    }
    return a.order < b.order;
  }
  ptx::Pc current() const { return current_; }
  std::uint64_t elections() const { return elections_; }
  std::uint64_t& elections() { return elections_; }
  const PcCounts& counts() const { return counts_; }

 private:
  static constexpr unsigned kByHeuristic = 3;
  // Overdue, released, of the majority, any other.
  unsigned level(const WarpRank& warp) const {
    if (warp.overdue) return 0;
    if (warp.released) return 1;
    const bool majority = heuristic_ == DwfHeuristic::kMajorityHeap
                              ? warp.node == current_node_ && current_node_ != MajorityHeap::kNone
                              : current_ != ptx::kNoPc && warp.pc == current_;
    return majority ? 2 : kByHeuristic;
  }
  void set(ptx::Pc pc) {
    current_ = pc;
    ++elections_;
  }

  const DwfHeuristic heuristic_;
  PcCounts counts_;
  MajorityHeap heap_;
  std::vector<std::uint32_t> nodes_;  // warps by node of the heap; [0]: of none
  ptx::Pc current_ = ptx::kNoPc;      // the majority (or minority) PC
  MajorityHeap::Node current_node_ = MajorityHeap::kNone;
  std::uint64_t elections_ = 0;
};

}  // namespace weft::warp_formation

#endif
