// CAPRI: thread block compaction whose warps wait for each other only at branches where that is predicted to
// make fewer warps of them.
//
// Rhu, Erez: CAPRI: prediction of compaction-adequacy for handling control-divergence in GPGPU architectures,
// ISCA 2012. A warp that comes to a branch looks it up. Adequate: it dissolves, as under tbc. Not adequate:
// it goes on alone, as under sbr. When all warps of the entry have passed the branch, its counter learns.
//
// The paper's text was not at hand; README.md says what is recalled or chosen. One rule is ours: the warps of
// an entry wait at one branch at a time, so that none waits for others that wait elsewhere.
#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "warp_formation/capri_history.h"
#include "warp_formation/capri_options.h"
#include "warp_formation/capri_predictor.h"
#include "warp_formation/compacting_warps.h"
#include "warp_formation/powers.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

class Capri final : public CompactingWarps {
 public:
  Capri(const CapriOptions& options, const CommonConfig& config, const Geometry& geometry)
      : CompactingWarps(rules(options), config, geometry),
        options_(options),
        predictor_(options),
        histories_(geometry.slots) {
    for (auto& histories : histories_) {
      for (auto& history : histories.of) history.paths.reserve(4);
    }
  }

  void attach(const ptx::Program& program, const SmView& sm) override {
    CompactingWarps::attach(program, sm);
    if (!options_.capt_survives_launch) {
      predictor_.clear();
      return;
    }
    // PCs of one kernel are not those of another one: in memory their code lies at different addresses.
    const auto [kernel, fresh] = first_pcs_.try_emplace(program.name, next_first_);
    first_ = kernel->second;
    if (fresh) next_first_ += static_cast<ptx::Pc>(program.code.size());
  }
  void reset() override {
    CompactingWarps::reset();
    predictor_.clear();
    predictor_.uses() = {};
    for (auto& histories : histories_) {
      histories.next = 0;
      for (auto& history : histories.of) history.open = false;
    }
    first_pcs_.clear();
    first_ = next_first_ = 0;
    statistics_ = {};
  }

  void bind(statistics::Group& group) override;
  storage::Arrays arrays(std::uint64_t stack_entries) const override;
  std::string dump() const override;
  void archive(Archive& archive) override {
    CompactingWarps::archive(archive);
    archive(predictor_, first_pcs_, next_first_);
    for (auto& histories : histories_) {
      archive(histories.next);
      for (auto& history : histories.of) archive(at_rest(history.open));
    }
  }

 private:
  // Branches of a block that some of its warps have passed and others have not: more are forgotten.
  static constexpr std::size_t kHistories = 4;
  struct Histories {
    std::array<BranchHistory, kHistories> of;
    std::size_t next = 0;  // to be replaced if all are open
  };
  struct Statistics {
    std::uint64_t adequate = 0, inadequate = 0;  // predictions
    std::uint64_t lone_branches = 0, lone_partings = 0, meetings_elsewhere = 0;
    std::uint64_t right_divergent = 0, wrong_divergent = 0, right_uniform = 0, wrong_uniform = 0;
    std::uint64_t evictions = 0, forgotten = 0;
    TableAccesses histories;
  };

  static Rules rules(const CapriOptions& options) {
    Rules rules;
    rules.order = options.order;
    rules.lone = true;
    return rules;
  }

  bool passes(unsigned context) override {
    const Warp& passing = warp(context);
    const CommitRecord& record = passing.record;
    Resident& b = block_of(context);
    const bool adequate = predict(b, context, record);
    ++(adequate ? statistics_.adequate : statistics_.inadequate);
    if (adequate && b.state.may_deposit(record.pc(), passing.depth)) return false;
    statistics_.meetings_elsewhere += adequate ? 1 : 0;
    ++statistics_.lone_branches;
    statistics_.lone_partings += record.paths().size() > 1 ? 1 : 0;
    go_on_alone(context);
    return true;
  }

  // The first warp of the entry looks the branch up for all of them: if some waited, they would wait for
  // those that went on alone to run their paths to the end.
  bool predict(Resident& b, unsigned context, const CommitRecord& record) {
    Histories& histories = histories_[b.state.block().slot];
    const auto is_of_branch = [&](const BranchHistory& h) { return h.open && h.branch == record.pc(); };
    auto history = std::find_if(histories.of.begin(), histories.of.end(), is_of_branch);
    // In its next turn of a loop a warp may find others in their first.
    const bool again = history != histories.of.end() && history->passed.has(context);
    if (history == histories.of.end()) {
      history = std::find_if(histories.of.begin(), histories.of.end(),
                             [](const BranchHistory& h) { return !h.open; });
      if (history == histories.of.end()) {
        history = histories.of.begin() + static_cast<std::ptrdiff_t>(histories.next++ % kHistories);
        ++statistics_.forgotten;
      }
      history->start(record.pc(), predictor_.adequate(first_ + record.pc()));
    }
    const bool adequate = history->predicted;
    if (again) return adequate;
    ++statistics_.histories.writes;
    history->add(context, record, b.state.block().first_chunk);
    learn(b, *history);
    return adequate;
  }

  // Warps that leave the entry need not pass its branches.
  void left(Resident& b, unsigned context) override {
    for (auto& history : histories_[b.state.block().slot].of) {
      if (!history.open) continue;
      if (!warp(context).alone) history.passed.remove(context);
      learn(b, history);
    }
  }

  void learn(const Resident& b, BranchHistory& history) {
    if (b.state.unplaced() != 0) return;
    for (const std::uint16_t context : b.contexts) {
      const Warp& other = warp(context);
      if (!other.live || history.passed.has(context)) continue;
      if (!other.alone || awaits(b, context)) return;
    }
    history.open = false;
    ++statistics_.histories.reads;
    const bool adequate =
        history.adequate(b.state.block().first_chunk, geometry().home, lanes(), warp_size() / lanes());
    statistics_.evictions += predictor_.train(first_ + history.branch, adequate) ? 1 : 0;
    const bool right = adequate == history.predicted;
    ++(history.parted ? right ? statistics_.right_divergent : statistics_.wrong_divergent
       : right        ? statistics_.right_uniform
                      : statistics_.wrong_uniform);
  }

  // A branch, the warps that have passed it, their paths, and threads by lane along either of two paths.
  std::uint64_t history_bits() const {
    const std::uint64_t threads = std::min(geometry().threads, kMaxBlockThreads);
    const std::uint64_t warps = threads / warp_size() + 1;
    return kPcBits + warps + bits_for(2 * warps + 1) + 2 * lanes() * bits_for(threads / lanes() + 1);
  }
  std::uint64_t history_entries() const { return geometry().slots * kHistories; }

  const CapriOptions options_;
  CapriPredictor predictor_;
  std::vector<Histories> histories_;  // by slot
  std::map<std::string, ptx::Pc> first_pcs_;
  ptx::Pc first_ = 0, next_first_ = 0;  // of the kernel that runs, and of the next new one
  Statistics statistics_;
};

void Capri::bind(statistics::Group& group) {
  static constexpr statistics::Unit kPredictions("predictions"), kOutcomes("outcomes");
  bind_shared(group,
              "stacks of all block slots and warps at their deepest, warp buffer, prediction table, and "
              "branches that not all warps have passed",
              [this] { return predictor_.bits() + history_entries() * history_bits(); });
  group.gauge("lone_warps", units::kWarps, "warps whose threads are on several paths of their own",
              [this] { return lone_warps(); });
  group.counter("predicted_adequate", kPredictions,
                "branches of warps at which compaction was predicted to help", statistics_.adequate);
  group.counter("predicted_inadequate", kPredictions,
                "branches of warps at which compaction was predicted not to help", statistics_.inadequate);
  group.counter("lone_branches", units::kBranches, "branches that a warp passed without waiting for others",
                statistics_.lone_branches);
  group.counter("lone_partings", units::kBranches,
                "of these, branches after which its threads were on several paths of their own",
                statistics_.lone_partings);
  group.counter("meetings_elsewhere", units::kBranches,
                "branches passed alone, though predicted adequate, because others waited at another branch",
                statistics_.meetings_elsewhere);
  group.counter("right_divergent", kOutcomes,
                "right predictions for branches at which threads of a warp parted",
                statistics_.right_divergent);
  group.counter("wrong_divergent", kOutcomes,
                "wrong predictions for branches at which threads of a warp parted",
                statistics_.wrong_divergent);
  group.counter("right_uniform", kOutcomes,
                "right predictions for branches at which all warps stayed together",
                statistics_.right_uniform);
  group.counter("wrong_uniform", kOutcomes,
                "wrong predictions for branches at which all warps stayed together",
                statistics_.wrong_uniform);
  const auto accuracy = [&](const char* name, const char* meaning, const std::uint64_t& right,
                            const std::uint64_t& wrong) {
    group.ratio(name, statistics::Unit("right predictions per prediction"), meaning,
                {{&right}, {&right, &wrong}, 1, statistics::kNothing});
  };
  accuracy("accuracy_divergent", "right predictions for branches at which threads of a warp parted",
           statistics_.right_divergent, statistics_.wrong_divergent);
  accuracy("accuracy_uniform", "right predictions for branches at which all warps stayed together",
           statistics_.right_uniform, statistics_.wrong_uniform);
  group.counter("capt_evictions", units::kBranches, "branches evicted from the prediction table",
                statistics_.evictions);
  group.counter("forgotten_branches", units::kBranches,
                "branches forgotten before all warps had passed them: nothing was learned",
                statistics_.forgotten);
  const auto real = [](std::uint64_t value) { return [value] { return static_cast<double>(value); }; };
  statistics_.histories.bind(group, "branch_histories", real(history_entries()), real(history_bits()));
  if (predictor_.bits() == 0) return;
  predictor_.uses().bind(group, "capt", real(options_.capt_entries / options_.capt_ways),
                         real(options_.capt_ways * predictor_.entry_bits()));
}

storage::Arrays Capri::arrays(std::uint64_t stack_entries) const {
  storage::Arrays arrays = CompactingWarps::arrays(stack_entries);
  add(arrays, storage::tags("capt", options_.capt_entries, predictor_.entry_bits(), options_.capt_ways));
  add(arrays, storage::ram("branch_histories", history_entries(), history_bits()));
  return arrays;
}

std::string Capri::dump() const {
  std::ostringstream out;
  out << CompactingWarps::dump();
  for (std::size_t slot = 0; slot < histories_.size(); ++slot) {
    for (const BranchHistory& history : histories_[slot].of) {
      if (!history.open) continue;
      out << "block slot " << slot << ": " << history.passed.size()
          << " warps of the top entry have passed the "
          << "branch at pc " << history.branch << ", predicted " << (history.predicted ? "" : "not ")
          << "adequate\n";
    }
  }
  return out.str();
}

WEFT_REGISTER_SCHEME(scheme<Capri, CapriOptions>("capri",
                                                 "thread block compaction where it is predicted to help"))

}  // namespace
}  // namespace weft::warp_formation
