#include "ptx/reach.h"

#include <algorithm>

namespace weft::ptx {
namespace {

class Walker {
 public:
  Walker(const Linkage& linkage, Reach& reach) : linkage_(linkage), reach_(reach) {}

  void add(const FunctionReference& reference) {
    const auto number = static_cast<std::uint32_t>(reach_.functions.size());
    if (!reach_.numbers.emplace(reference.function, number).second) return;
    reach_.functions.push_back(
        std::make_unique<FunctionSymbols>(linkage_, reference, *reach_.shared, *reach_.locals));
  }

  void add_callees(std::uint32_t caller) {
    for (const auto& [statement, site] : reach_.functions[caller]->calls()) {
      if (site.system != SystemCall::kNone) continue;
      if (!site.indirect) {
        add(site.callee);
      } else if (!site.targets.empty()) {
        for (const FunctionReference& target : site.targets) add_with_address(target);
      } else if (!all_) {
        all_ = true;
        for (const FunctionReference& target : linkage_.with_address()) add_with_address(target);
      }
    }
  }

 private:
  void add_with_address(const FunctionReference& reference) {
    add(reference);
    const std::uint32_t number = reach_.numbers.at(reference.function);
    auto& list = reach_.with_address;
    if (std::find(list.begin(), list.end(), number) == list.end()) list.push_back(number);
  }

  const Linkage& linkage_;
  Reach& reach_;
  bool all_ = false;
};

// Depth-first: a function met again while it is open is called recursively.
class Depths {
 public:
  Depths(const Reach& reach, const std::vector<std::uint64_t>& frames)
      : reach_(reach), frames_(frames), depth_(frames.size(), 0), state_(frames.size(), State::kNew) {}

  StackDepth run() {
    visit(0);
    return {depth_[0], recursive_};
  }

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  struct Open {
    std::uint32_t function = 0;
    std::vector<std::uint32_t> callees;
    std::size_t next = 0;
  };

  std::vector<std::uint32_t> callees(std::uint32_t caller) const {
    std::vector<std::uint32_t> list;
    for (const auto& [statement, site] : reach_.functions[caller]->calls()) {
      if (site.system != SystemCall::kNone) continue;
      if (!site.indirect) {
        list.push_back(reach_.numbers.at(site.callee.function));
      } else if (site.targets.empty()) {
        list.insert(list.end(), reach_.with_address.begin(), reach_.with_address.end());
      } else {
        for (const auto& target : site.targets) list.push_back(reach_.numbers.at(target.function));
      }
    }
    return list;
  }

  void visit(std::uint32_t root) {
    std::vector<Open> path;
    const auto open = [&](std::uint32_t function) {
      state_[function] = State::kOpen;
      path.push_back({function, callees(function), 0});
    };
    open(root);
    while (!path.empty()) {
      Open& top = path.back();
      if (top.next < top.callees.size()) {
        const std::uint32_t callee = top.callees[top.next++];
        if (state_[callee] == State::kNew) {
          open(callee);
        } else if (state_[callee] == State::kOpen) {
          recursive_ = true;
        }
        continue;
      }
      std::uint64_t below = 0;
      for (const std::uint32_t callee : top.callees) {
        if (state_[callee] == State::kDone) below = std::max(below, depth_[callee]);
      }
      depth_[top.function] = frames_[top.function] + below;
      state_[top.function] = State::kDone;
      path.pop_back();
    }
  }

  const Reach& reach_;
  const std::vector<std::uint64_t>& frames_;
  std::vector<std::uint64_t> depth_;
  std::vector<State> state_;
  bool recursive_ = false;
};

}  // namespace

Reach find_reach(const Linkage& linkage, const FunctionReference& kernel) {
  Reach reach;
  *reach.locals = place_module_locals(linkage);
  Walker walker(linkage, reach);
  walker.add(kernel);
  for (std::uint32_t f = 0; f < reach.functions.size(); ++f) walker.add_callees(f);
  for (const auto& function : reach.functions) {
    reach.frame_alignment = std::max(reach.frame_alignment, function->frame_alignment());
  }
  reach.uses_dynamic_shared = place_dynamic_shared(linkage, *reach.shared);
  return reach;
}

StackDepth stack_depth(const Reach& reach, const std::vector<std::uint64_t>& frames) {
  return Depths(reach, frames).run();
}

}  // namespace weft::ptx
