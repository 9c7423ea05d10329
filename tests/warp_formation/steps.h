// Drives a scheme by hand, one call at a time, so that a worked example of a paper can be followed step by
// step: every issue is accepted, and the test says when an instruction resolves and where its threads go.
//
//   Steps steps(program, config, geometry);
//   steps.launch(8);
//   EXPECT_EQ(steps.issue(), "pc 0: 0 1 2 3");
//   steps.resolve(0, {{1, {1, 3}}, {2, {0, 2}}});       // issue 0: threads 1 and 3 go to pc 1, ...
//   steps.cycle();                                      // tables move
#ifndef WEFT_TESTS_WARP_FORMATION_STEPS_H
#define WEFT_TESTS_WARP_FORMATION_STEPS_H

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "weft/warp_formation/scheme.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation::test {

class Steps final : public SmView {
 public:
  Steps(const ptx::Program& program, const Config& config, const Geometry& geometry)
      : unit_(create(config, geometry)) {
    unit_->bind(tree_.group("scheme"));
    unit_->attach(program, *this);
  }

  using Threads = std::vector<unsigned>;

  void launch(unsigned threads, std::uint16_t slot = 0, std::uint16_t first_chunk = 0) {
    unit_->launch({slot, first_chunk, threads});
  }
  void cycle() { unit_->advance(++now_); }
  // Issues what the scheme offers, under the next id; "" if it offers nothing.
  std::string issue() {
    Issue issue;
    taken_ = 0;
    return unit_->pick(0, issue) == Stall::kNone ? take(issue) : "";
  }
  // ... beside that, in the same cycle, on lanes of four that are free.
  std::string beside() {
    Issue issue;
    return unit_->pick_beside(0, issue) == Stall::kNone ? take(issue) : "";
  }
  void resolve(IssueId id, const std::vector<std::pair<ptx::Pc, Threads>>& paths,
               Outcome::Kind kind = Outcome::Kind::kGo, std::uint16_t depth = 0) {
    std::vector<std::vector<ThreadGroup>> groups;
    groups.reserve(paths.size());
    for (const auto& path : paths) groups.push_back(groups_of(path.second));
    std::vector<Outcome> outcomes;
    outcomes.reserve(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      Outcome outcome;
      outcome.kind = kind;
      outcome.depth = depth;
      outcome.next_pc = paths[i].first;
      outcome.groups = {groups[i].data(), static_cast<std::uint32_t>(groups[i].size())};
      outcomes.push_back(outcome);
    }
    unit_->resolved(id, {outcomes.data(), static_cast<std::uint32_t>(outcomes.size())});
  }
  void release_sync(const Threads& threads) {
    const auto groups = groups_of(threads);
    unit_->warp_sync_released({groups.data(), static_cast<std::uint32_t>(groups.size())});
  }
  // The lines of the dump that contain `what`, shortened to what follows it.
  std::vector<std::string> lines(const std::string& what) const {
    std::istringstream in(unit_->dump());
    std::vector<std::string> found;
    for (std::string line; std::getline(in, line);) {
      const auto at = line.find(what);
      if (at != std::string::npos) found.push_back(line.substr(at + what.size()));
    }
    return found;
  }
  // By its path below the scheme: "ready_lookup/merges".
  double statistic(const std::string& name) const {
    return tree_.sample().at(nlohmann::json::json_pointer("/scheme/" + name)).get<double>();
  }
  WarpFormation& unit() { return *unit_; }
  Cycle now() const { return now_; }

  Stall ready(unsigned, const Issue&) const override { return Stall::kNone; }
  Stall ready_beside(unsigned, const Issue& issue) const override {
    return (lanes_of(issue) & taken_) == 0 ? Stall::kNone : Stall::kUnitBusy;
  }

 private:
  static std::uint32_t lanes_of(const Issue& issue) {
    std::uint32_t lanes = 0;
    for (const auto& group : issue.groups) {
      for (std::uint32_t rest = group.mask; rest != 0; rest >>= 4) lanes |= rest & 15;
    }
    return lanes;
  }
  std::string take(const Issue& issue) {
    std::ostringstream out;
    out << "pc " << issue.pc << ":";
    for (unsigned t = 0; t < 4096; ++t) {
      for (const auto& group : issue.groups) {
        if (group.chunk == t / kChunk && (group.mask >> (t % kChunk) & 1) != 0) out << " " << t;
      }
    }
    taken_ |= lanes_of(issue);
    unit_->issued(next_id_, issue);
    ++next_id_;
    return out.str();
  }
  static std::vector<ThreadGroup> groups_of(const Threads& threads) {
    std::vector<ThreadGroup> groups;
    for (const unsigned t : threads) {
      if (groups.empty() || groups.back().chunk != t / kChunk)
        groups.push_back({0, static_cast<std::uint16_t>(t / kChunk), 0, false});
      groups.back().mask |= 1u << (t % kChunk);
    }
    return groups;
  }

  std::unique_ptr<WarpFormation> unit_;
  statistics::Group tree_;
  IssueId next_id_ = 0;
  std::uint32_t taken_ = 0;  // lanes, by what began in this cycle
  Cycle now_ = 0;
};

}  // namespace weft::warp_formation::test

#endif
