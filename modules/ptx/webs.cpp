#include "ptx/webs.h"

#include <algorithm>
#include <utility>

namespace weft::ptx {
namespace {

// Sets of values that are one web. A value is what one definition writes, or what a register that is live
// into a block holds there, from wherever it comes.
class Values {
 public:
  std::uint32_t add() {
    parent_.push_back(static_cast<std::uint32_t>(parent_.size()));
    return parent_.back();
  }
  std::uint32_t find(std::uint32_t value) {
    while (parent_[value] != value) value = parent_[value] = parent_[parent_[value]];
    return value;
  }
  void join(std::uint32_t a, std::uint32_t b) { parent_[find(a)] = find(b); }
  std::size_t size() const { return parent_.size(); }

 private:
  std::vector<std::uint32_t> parent_;
};

class Splitter {
 public:
  Splitter(Draft& draft, const FlowGraph& flow, const Liveness& liveness)
      : draft_(draft), flow_(flow), liveness_(liveness), now_(draft.registers.size(), kNone) {}

  void run() {
    // A register that is live out of a block holds there what it holds at the begin of the next ones.
    entering_.resize(flow_.blocks.size());
    const std::vector<std::vector<VirtualId>> live_in = find_live_in();
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      for (const VirtualId id : live_in[b]) entering_[b].emplace_back(id, values_.add());
    }
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) follow(b);
    rename();
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::vector<std::vector<VirtualId>> find_live_in() const {
    std::vector<std::vector<VirtualId>> result(flow_.blocks.size());
    LiveSet live(draft_.registers.size());
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      liveness_.live_out.enter(b, live);
      for (Pc pc = flow_.blocks[b].last + 1; pc-- > flow_.blocks[b].first;) step_back(draft_.code[pc], live);
      result[b] = live.list();
      std::sort(result[b].begin(), result[b].end());
    }
    return result;
  }

  // Gives a value to every operand of the block, in the order in which `rename` comes past them.
  void follow(std::size_t b) {
    for (const auto& [id, value] : entering_[b]) set(id, value);
    const BasicBlock& block = flow_.blocks[b];
    for (Pc pc = block.first; pc <= block.last; ++pc) {
      const DraftInstruction& i = draft_.code[pc];
      for_each_read(i, [&](VirtualId id) {
        if (now_[id] == kNone) set(id, values_.add());  // in code that nothing reaches
        operands_.push_back(now_[id]);
      });
      for_each_write(i, [&](VirtualId id) {
        if (overwrites(i) || now_[id] == kNone) set(id, values_.add());
        operands_.push_back(now_[id]);
      });
    }
    for (const std::uint32_t s : block.successors) {
      if (s == flow_.blocks.size()) continue;
      for (const auto& [id, value] : entering_[s]) {
        if (now_[id] != kNone) values_.join(now_[id], value);
      }
    }
    for (const VirtualId id : touched_) now_[id] = kNone;
    touched_.clear();
  }
  void set(VirtualId id, std::uint32_t value) {
    now_[id] = value;
    touched_.push_back(id);
  }

  void rename() {
    std::vector<VirtualId> web(values_.size(), kNoRegister);  // by the value that stands for the set
    std::vector<bool> named(draft_.registers.size(), false);
    std::size_t next = 0;
    const auto give = [&](VirtualId& id) {
      const std::uint32_t value = values_.find(operands_[next++]);
      if (web[value] == kNoRegister) {
        if (!named[id]) {
          named[id] = true;
          web[value] = id;
        } else {
          web[value] = draft_.add_copy(id);
        }
      }
      id = web[value];
    };
    for (DraftInstruction& i : draft_.code) {
      for (VirtualId& id : i.src) {
        if (id < kFirstFixed) give(id);
      }
      if (i.guard != kNoRegister) give(i.guard);
      for (VirtualId& id : i.dst) {
        if (id < kFirstFixed) give(id);
      }
    }
  }

  Draft& draft_;
  const FlowGraph& flow_;
  const Liveness& liveness_;
  Values values_;
  std::vector<std::uint32_t> now_;                                          // by register, within a block
  std::vector<VirtualId> touched_;                                          // of now_
  std::vector<std::vector<std::pair<VirtualId, std::uint32_t>>> entering_;  // by block: register, value
  std::vector<std::uint32_t> operands_;                                     // their values
};

}  // namespace

void split_webs(Draft& draft, const FlowGraph& flow, const Liveness& liveness) {
  Splitter(draft, flow, liveness).run();
}

}  // namespace weft::ptx
