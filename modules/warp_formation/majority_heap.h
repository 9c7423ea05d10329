// The majority heap of dynamic warp formation: which PC has most threads, from a heap with few ports.
//
// A node holds a PC and its threads; a small set-associative table leads from a PC to its node. A PC that the
// table has lost gets a second node. Every change of a node's threads sorts it towards the root, one read of
// node and parent and one write of both per level; accesses beyond the ports of a cycle pile up, and no new
// majority is elected before they are done.
#ifndef WEFT_WARP_FORMATION_MAJORITY_HEAP_H
#define WEFT_WARP_FORMATION_MAJORITY_HEAP_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "warp_formation/dwf_options.h"
#include "weft/warp_formation/table_accesses.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

class MajorityHeap {
 public:
  using Node = std::uint32_t;  // a number from 1 on, reused once the node was elected and another one is
  static constexpr Node kNone = 0;

  explicit MajorityHeap(const DwfOptions::Heap& config) : config_(config) {
    heap_.reserve(config.nodes);
    free_.reserve(config.nodes + 1);
    table_.resize(config.lut_entries);
    clear();
  }

  void clear() {
    heap_.clear();
    for (auto& entry : table_) entry = Entry();
    elected_ = {};
    free_.clear();
    for (auto node = static_cast<Node>(most_nodes()); node >= 1; --node) free_.push_back(node);
    clock_ = 0;
    debt_ = {};
  }

  // Numbers of nodes are below this plus one.
  std::size_t most_nodes() const { return config_.nodes + 1; }

  // Threads join PC `pc`; returns the node that counts them, kNone if the heap is full.
  Node add(ptx::Pc pc, unsigned threads) {
    if (elected_.serial != kNone && elected_.pc == pc) {
      elected_.threads += threads;
      return elected_.serial;
    }
    debt_.table_reads += 1;
    Entry* entry = find(pc);
    std::size_t at = 0;
    if (entry != nullptr) {
      at = index_of(entry->node);
      debt_.heap_reads += 1;
      heap_[at].threads += threads;
      debt_.heap_writes += 1;
    } else {
      if (heap_.size() == config_.nodes) return kNone;
      at = heap_.size();
      heap_.push_back({free_.back(), pc, threads});
      free_.pop_back();
      debt_.heap_writes += 1;
      *victim(pc) = {pc, heap_[at].serial, ++clock_};
      debt_.table_writes += 1;
    }
    const Node node = heap_[at].serial;
    rise(at);
    return node;
  }

  // The heap's accesses of `cycles` cycles are done.
  void pass(Cycle cycles) {
    const auto pay = [cycles](std::uint64_t& debt, std::uint64_t ports, std::uint64_t& uses) {
      const std::uint64_t done = std::min<std::uint64_t>(debt, cycles * ports);
      debt -= done;
      uses += done;
    };
    pay(debt_.heap_reads, config_.reads, uses_.heap.reads);
    pay(debt_.heap_writes, config_.writes, uses_.heap.writes);
    pay(debt_.table_reads, config_.reads, uses_.table.reads);
    pay(debt_.table_writes, config_.writes, uses_.table.writes);
  }
  bool settled() const {
    return (debt_.heap_reads | debt_.heap_writes | debt_.table_reads | debt_.table_writes) == 0;
  }

  // Takes the root out as the new majority; kNone if the heap is empty. Only when settled.
  Node elect() {
    if (elected_.serial != kNone) free_.push_back(elected_.serial);
    elected_ = {};
    if (heap_.empty()) return kNone;
    elected_ = heap_.front();
    debt_.heap_reads += 2;  // the root and the last leaf
    heap_.front() = heap_.back();
    heap_.pop_back();
    if (Entry* entry = find(elected_.pc); entry != nullptr && entry->node == elected_.serial) {
      *entry = Entry();
      debt_.table_writes += 1;
    }
    if (!heap_.empty()) sink();
    return elected_.serial;
  }
  // Of the heap and of its table, so far.
  struct Uses {
    TableAccesses heap, table;
  };
  Uses& uses() { return uses_; }
  ptx::Pc majority() const { return elected_.pc; }
  std::size_t size() const { return heap_.size(); }

 private:
  struct Element {
    Node serial = kNone;
    ptx::Pc pc = ptx::kNoPc;
    std::uint32_t threads = 0;
  };
  struct Entry {
    ptx::Pc pc = ptx::kNoPc;
    Node node = kNone;
    std::uint64_t used = 0;
  };
  struct Debt {  // accesses that wait for a port
    std::uint64_t heap_reads = 0, heap_writes = 0, table_reads = 0, table_writes = 0;
  };

  static bool above(const Element& a, const Element& b) {
    return a.threads != b.threads ? a.threads > b.threads : a.pc < b.pc;
  }
  // In hardware the table holds the index; looking it up by number keeps the two from disagreeing.
  std::size_t index_of(Node node) const {
    std::size_t at = 0;
    while (heap_[at].serial != node) ++at;
    return at;
  }
  Entry* first_of(ptx::Pc pc) {
    const std::size_t sets = table_.size() / config_.lut_ways;
    return &table_[(pc & (sets - 1)) * config_.lut_ways];
  }
  Entry* find(ptx::Pc pc) {
    Entry* set = first_of(pc);
    for (std::size_t w = 0; w < config_.lut_ways; ++w) {
      if (set[w].pc != pc || set[w].node == kNone) continue;
      set[w].used = ++clock_;
      return &set[w];
    }
    return nullptr;
  }
  Entry* victim(ptx::Pc pc) {
    Entry* set = first_of(pc);
    return std::min_element(set, set + config_.lut_ways,
                            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  }
  void swap(std::size_t a, std::size_t b) {
    std::swap(heap_[a], heap_[b]);
    debt_.heap_writes += 2;
    debt_.table_writes += 2;
  }
  void rise(std::size_t at) {
    while (at != 0) {
      const std::size_t parent = (at - 1) / 2;
      debt_.heap_reads += 2;
      if (!above(heap_[at], heap_[parent])) return;
      swap(at, parent);
      at = parent;
    }
  }
  void sink() {
    debt_.heap_writes += 1;
    for (std::size_t at = 0;;) {
      std::size_t largest = at;
      for (const std::size_t child : {2 * at + 1, 2 * at + 2}) {
        if (child >= heap_.size()) continue;
        debt_.heap_reads += 1;
        if (above(heap_[child], heap_[largest])) largest = child;
      }
      if (largest == at) return;
      swap(at, largest);
      at = largest;
    }
  }

  const DwfOptions::Heap config_;
  std::vector<Element> heap_;
  std::vector<Entry> table_;
  Element elected_;
  std::vector<Node> free_;
  std::uint64_t clock_ = 0;
  Debt debt_;
  Uses uses_;
};

}  // namespace weft::warp_formation

#endif
