// Weft's reconvergence at post-dominators against the threads that a real GPU executed together.
#include "silicon/divergence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "folder.h"
#include "silicon/cuda_machine.h"
#include "silicon/stand_in.h"

namespace weft::test::silicon {
namespace divergence_test {
namespace {

using ::testing::HasSubstr;

constexpr Limits kLimits{1, 400};

// Traces of Weft by kernel.
std::map<std::string, KernelTrace> traces_of_weft(const std::string& list,
                                                  const std::vector<std::string>& settings = {},
                                                  const std::string& target = "") {
  CudaMachine machine(stand_in(settings));
  if (!target.empty()) machine.set_target(target);
  std::map<std::string, KernelTrace> traces;
  for (KernelTrace& trace : record(machine, divergence_kernels(list), kLimits).kernels) {
    EXPECT_EQ(trace.refused, "") << trace.name;
    traces[trace.name] = std::move(trace);
  }
  return traces;
}

std::set<std::string> kernels_that_wait() {
  std::set<std::string> names;
  for (const DivergenceKernel& kernel : waiting_kernels()) names.insert(kernel.name);
  return names;
}

bool all_go_on(const KernelTrace& kernel) {
  return std::all_of(kernel.warps.begin(), kernel.warps.end(),
                     [](const WarpTrace& warp) { return warp.result == 0xffffffff; });
}

// "points fewer more other": what departures.txt has after the names of recording and kernel.
std::string counts(const Agreement& a) {
  return std::to_string(a.points) + ' ' + std::to_string(a.fewer) + ' ' + std::to_string(a.more) + ' ' +
         std::to_string(a.other);
}

void add(const Agreement& one, Agreement& all) {
  all.points += one.points;
  all.fewer += one.fewer;
  all.more += one.more;
  all.other += one.other;
  all.warps += one.warps;
  all.same_order += one.same_order;
}

using Departures = std::map<std::string, std::string>;  // by "RECORDING KERNEL"

// What all kernels of a recording have in common with Weft.
struct Summary {
  std::size_t compared = 0, equal = 0;  // kernels; those with the same masks
  Agreement all;
};

// Lines "RECORDING KERNEL POINTS FEWER MORE OTHER CAUSES", or "RECORDING KERNEL waits", of a kernel in which
// threads wait for ever.
Departures read_departures() {
  std::ifstream file(WEFT_SILICON_DIVERGENCE "/departures.txt");
  Departures departures;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string recording, kernel, word, what;
    words >> recording >> kernel;
    while (words >> word && word[0] != '[') what += (what.empty() ? "" : " ") + word;
    departures[recording + ' ' + kernel] = what;
  }
  return departures;
}

// One recording; the departures found go to `found`.
Summary compare_with(const std::string& name, const Divergence& silicon,
                     const std::map<std::string, KernelTrace>& weft, Departures& found) {
  static const std::set<std::string> waiting = kernels_that_wait();
  Summary summary;
  auto& [compared, equal, all] = summary;
  for (const KernelTrace& kernel : silicon.kernels) {
    if (!kernel.refused.empty()) continue;
    EXPECT_EQ(kernel.steady, "steady") << name << ' ' << kernel.name;
    if (waiting.count(kernel.name) != 0) {
      if (!all_go_on(kernel)) found[name + ' ' + kernel.name] = "waits";
      continue;
    }
    const Agreement one = compare(kernel, weft.at(kernel.name));
    EXPECT_EQ(one.wrong, "") << name << ' ' << kernel.name;
    ++compared;
    if (one.fewer + one.more + one.other == 0)
      ++equal;
    else
      found[name + ' ' + kernel.name] = counts(one);
    add(one, all);
  }
  std::cout << name << ", " << silicon.gpu << ", driver " << silicon.driver << ", target " << silicon.target
            << ", optimisation " << silicon.optimisation << ": " << compared << " kernels, " << equal
            << " with the same masks; points, with fewer threads than in Weft, with more, with others: "
            << counts(all) << "; the same order in " << all.same_order << " of " << all.warps << " warps\n";
  return summary;
}

TEST(Divergence, DepartsFromPostDominatorsAsNamed) {
  const std::map<std::string, KernelTrace> weft = traces_of_weft("divergence");
  Departures found;
  std::size_t recordings = 0;
  for (const auto& file : std::filesystem::directory_iterator(WEFT_SILICON_DIVERGENCE)) {
    if (file.path().extension() != ".gz") continue;
    ++recordings;
    compare_with(file.path().stem(), read_divergence(file.path()), weft, found);
  }
  EXPECT_GT(recordings, 0u);
  for (const std::string& kernel : kernels_that_wait()) {
    if (!all_go_on(weft.at(kernel))) found["sbr " + kernel] = "waits";
  }
  if (const char* file = std::getenv("WEFT_SILICON_FOUND")) {  // the lines of departures.txt, without causes
    std::ofstream text(file);
    for (const auto& [kernel, what] : found) text << kernel << ' ' << what << '\n';
  }
  EXPECT_EQ(found, read_departures());
}

const std::vector<std::string> kConvergence = {"warp_formation.scheme=convergence_barriers"};

// The scheme that is made like silicon: 94.4 % of the masks are equal (81.7 % under sbr), and every kernel
// whose threads wait for each other goes on.
TEST(Divergence, ConvergenceBarriersRunTogetherWhatSiliconDoes) {
  const std::map<std::string, KernelTrace> weft = traces_of_weft("divergence", kConvergence);
  Departures found;
  const Summary summary =
      compare_with("h100", read_divergence(WEFT_SILICON_DIVERGENCE "/h100.gz"), weft, found);
  EXPECT_EQ(counts(summary.all), "405000 22424 448 0");
  EXPECT_EQ(summary.equal, 147u) << "of " << summary.compared;
  for (const std::string& kernel : kernels_that_wait()) EXPECT_TRUE(all_go_on(weft.at(kernel))) << kernel;
}

// No compiler places a yield for older targets, and so the same kernels wait in vain.
TEST(Divergence, ForOlderTargetsTheSameKernelsWaitInVain) {
  const std::map<std::string, KernelTrace> weft = traces_of_weft("shapes", kConvergence, "sm_60");
  std::set<std::string> on_silicon, on_weft;
  for (const KernelTrace& kernel : read_divergence(WEFT_SILICON_DIVERGENCE "/h100_sm60.gz").kernels) {
    if (!kernel.refused.empty() || kernels_that_wait().count(kernel.name) == 0) continue;
    if (!all_go_on(kernel)) on_silicon.insert(kernel.name);
    if (!all_go_on(weft.at(kernel.name))) on_weft.insert(kernel.name);
  }
  EXPECT_EQ(on_silicon.size(), 5u);
  EXPECT_EQ(on_weft, on_silicon);
}

unsigned count(std::uint32_t mask) {
  return static_cast<unsigned>(__builtin_popcount(mask));
}

// Of the two sides of each branch: how often the one with fewer threads, with more, with as many ran first.
std::array<std::size_t, 3> sides_that_run_first(const WarpTrace& warp) {
  std::array<std::size_t, 3> sides{};
  const std::vector<Visit>& visits = warp.visits;
  for (std::size_t i = 0; i + 1 < visits.size(); ++i) {
    const std::uint32_t all = visits[i].mask, first = visits[i + 1].mask, rest = all & ~first;
    if (rest == 0 || (first & ~all) != 0) continue;
    const auto next = std::find_if(visits.begin() + static_cast<std::ptrdiff_t>(i) + 2, visits.end(),
                                   [&](const Visit& visit) { return (visit.mask & rest) != 0; });
    if (next == visits.end() || next->mask != rest) continue;
    ++sides[count(first) < count(rest) ? 0 : count(first) > count(rest) ? 1 : 2];
  }
  return sides;
}

TEST(Divergence, TheSideWithFewerThreadsRunsFirstOnAnH100) {
  std::array<std::size_t, 3> sides{};
  for (const KernelTrace& kernel : read_divergence(WEFT_SILICON_DIVERGENCE "/h100.gz").kernels) {
    for (const WarpTrace& warp : kernel.warps) {
      const auto one = sides_that_run_first(warp);
      for (std::size_t i = 0; i < 3; ++i) sides[i] += one[i];
    }
  }
  EXPECT_THAT(sides, ::testing::ElementsAre(2413, 66, 282));
}

TEST(Divergence, ATraceComesBackFromAFile) {
  CudaMachine machine(stand_in());
  std::vector<DivergenceKernel> kernels = shaped_kernels();
  kernels.resize(3);
  kernels.push_back(waiting_kernels().front());
  kernels.push_back({"refused", "  no.such.instruction;\n"});
  Divergence divergence = record(machine, kernels, {2, 10});
  divergence.gpu = "Weft";
  divergence.capability = "9.0";
  divergence.target = "sm_90";
  const Folder folder;
  const std::string file = folder.path("divergence.gz");
  write(divergence, file);
  const Divergence again = read_divergence(file);
  EXPECT_EQ(again.gpu, "Weft");
  EXPECT_EQ(again.target, "sm_90");
  EXPECT_EQ(again.optimisation, -1);
  ASSERT_EQ(again.kernels.size(), 5u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(again.kernels[i].steady, "steady");
    const Agreement agreement = compare(again.kernels[i], divergence.kernels[i]);
    EXPECT_EQ(agreement.wrong, "") << again.kernels[i].name;
    EXPECT_EQ(agreement.fewer + agreement.more + agreement.other, 0u);
    EXPECT_EQ(agreement.same_order, 3u);
    EXPECT_EQ(again.kernels[i].warps[0].turns, divergence.kernels[i].warps[0].turns);
  }
  EXPECT_THAT(again.kernels[4].refused, HasSubstr("no.such.instruction"));
}

TEST(Divergence, DifferencesAreCountedByKind) {
  KernelTrace silicon;
  silicon.warps.resize(1);
  silicon.warps[0].visits = {{1, 0xf, 0xf}, {2, 0x3, 0x3}, {2, 0xc, 0xc}, {3, 0xf, 0xf}};
  KernelTrace weft = silicon;
  EXPECT_EQ(counts(compare(silicon, weft)), "12 0 0 0");
  weft.warps[0].visits = {{1, 0xf, 0xf}, {2, 0xf, 0xf}, {3, 0x3, 0x3}, {3, 0xc, 0xc}};
  EXPECT_EQ(counts(compare(silicon, weft)), "12 4 4 0");
  weft.warps[0].visits = {{1, 0xf, 0xf}, {2, 0x5, 0x5}, {2, 0xa, 0xa}, {3, 0xf, 0xf}};
  EXPECT_EQ(counts(compare(silicon, weft)), "12 0 0 4");
  weft.warps[0].visits[0].point = 7;
  EXPECT_THAT(compare(silicon, weft).wrong, HasSubstr("lane 0 takes another path"));
  weft.text_hash = 1;
  EXPECT_THAT(compare(silicon, weft).wrong, HasSubstr("another kernel"));
}

}  // namespace
}  // namespace divergence_test
}  // namespace weft::test::silicon
