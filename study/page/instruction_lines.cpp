#include "study/page/instruction_lines.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <sstream>
#include <utility>

#include "measures/measures.h"
#include "study/session/csv_reader.h"
#include "weft/common/error.h"
#include "weft/common/statistics.h"

namespace weft::study {

using nlohmann::ordered_json;
using warp_formation::Stall;

namespace {

// The columns of counters, in the order of `counters_of`.
constexpr std::array<const char*, 12> kCounters = {"warp_instructions",
                                                   "thread_instructions",
                                                   "thread_places",
                                                   "executed_thread_instructions",
                                                   "parted",
                                                   "active_beats",
                                                   "active_lanes",
                                                   "memory_thread_instructions",
                                                   "coalesced_requests",
                                                   "data_requests",
                                                   "shared_accesses",
                                                   "shared_conflict_cycles"};

std::array<std::uint64_t*, kCounters.size()> counters_of(LineCounts& c) {
  return {&c.issues,        &c.threads,         &c.places,
          &c.executed,      &c.parted,          &c.active_beats,
          &c.active_lanes,  &c.memory_threads,  &c.coalesced_requests,
          &c.data_requests, &c.shared_accesses, &c.shared_conflict_cycles};
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

// What stands beside the table. Without it there are no texts and shapes.
void read_kernels(const ResultRun& run, LineProfile& profile) {
  const std::string file = run.file("kernels.json");
  if (!run.text("kernels.json").has_value()) return;
  const ordered_json json = read_json(file);
  try {
    profile.lanes = json.at("lanes").get<unsigned>();
    for (const ordered_json& entry : json.at("files")) {
      if (entry.at("text").is_string())
        profile.texts[entry.at("file").get<std::string>()] = lines_in(entry.at("text").get<std::string>());
    }
    for (const ordered_json& entry : json.at("kernels")) {
      for (ProfiledKernel& kernel : profile.kernels) {
        if (kernel.program == entry.at("program").get<std::uint64_t>()) kernel.shape = entry;
      }
    }
  } catch (const ordered_json::exception& error) {
    throw InputError(file, std::string(error.what()) + "; allowed: a file as weft has written it");
  }
}

std::optional<std::uint32_t> pc_of(const CsvReader& table, std::size_t column) {
  if (table.cell(column).empty()) return std::nullopt;
  return static_cast<std::uint32_t>(table.whole(column));
}

}  // namespace

LineCounts& LineCounts::operator+=(const LineCounts& other) {
  LineCounts copy = other;
  const auto mine = counters_of(*this), theirs = counters_of(copy);
  for (std::size_t i = 0; i < mine.size(); ++i) *mine[i] += *theirs[i];
  for (std::size_t b = 0; b < cycles.size(); ++b) cycles[b] += other.cycles[b];
  return *this;
}

std::optional<double> LineCounts::of(const char* name, unsigned lanes) const {
  const auto number = [&](const measures::Counter& counter) -> std::optional<double> {
    if (&counter == &measures::kLanes) return lanes;
    const std::pair<const measures::Counter*, std::uint64_t> counted[] = {
        {&measures::kThreadInstructions, threads}, {&measures::kWarpInstructions, issues},
        {&measures::kThreadPlaces, places},        {&measures::kActiveBeats, active_beats},
        {&measures::kActiveLanes, active_lanes},   {&measures::kMemoryThreads, memory_threads},
        {&measures::kDataRequests, data_requests}, {&measures::kCoalescedRequests, coalesced_requests}};
    for (const auto& [one, value] : counted) {
      if (one == &counter) return static_cast<double>(value);
    }
    return std::nullopt;
  };
  const auto value = measures::value_of(measures::get(name), number, statistics::kNothing);
  return value.has_value() && !std::isnan(*value) ? value : std::nullopt;
}

std::uint64_t LineCounts::all_cycles() const {
  return std::accumulate(cycles.begin(), cycles.end(), std::uint64_t{0});
}

LineCounts ProfiledKernel::sum() const {
  LineCounts sum = rest;
  for (const ProfiledInstruction& in : instructions) sum += in.counts;
  return sum;
}

const std::string& LineProfile::line(const std::string& file, std::uint32_t number) const {
  static const std::string kNone;
  const auto found = texts.find(file);
  if (found == texts.end() || number == 0 || number > found->second.size()) return kNone;
  return found->second[number - 1];
}

LineProfile read_line_profile(const ResultRun& run) {
  const std::optional<std::string> text = run.text("instructions.csv");
  if (!text.has_value()) {
    throw InputError(run.file("instructions.csv"),
                     "file not found; repeat the run with --set sm.observe.instructions=true");
  }
  LineProfile profile;
  CsvReader table(*text, run.file("instructions.csv"));
  const std::size_t kernel = table.column("kernel"), program = table.column("program"),
                    pc = table.column("pc"), kind = table.column("kind"), space = table.column("space"),
                    target = table.column("target_pc"), meets = table.column("reconvergence_pc"),
                    ptx_file = table.column("ptx_file"), ptx_line = table.column("ptx_line"),
                    source_file = table.column("source_file"), source_line = table.column("source_line");
  std::array<std::size_t, kCounters.size()> counters{};
  for (std::size_t i = 0; i < counters.size(); ++i) counters[i] = table.column(kCounters[i]);
  std::array<std::size_t, warp_formation::kStalls> buckets{};
  for (unsigned b = 0; b < buckets.size(); ++b) {
    buckets[b] = table.column("cycles_" + std::string(warp_formation::bucket_name(static_cast<Stall>(b))));
  }
  while (table.next()) {
    const std::uint64_t number = table.whole(program);
    if (profile.kernels.empty() || profile.kernels.back().program != number) {
      ProfiledKernel next;
      next.name = table.cell(kernel);
      next.program = number;
      profile.kernels.push_back(std::move(next));
    }
    ProfiledInstruction in;
    in.pc = pc_of(table, pc);
    in.kind = table.cell(kind);
    in.space = table.cell(space);
    in.target = pc_of(table, target);
    in.reconvergence = pc_of(table, meets);
    in.ptx_file = table.cell(ptx_file);
    in.source_file = table.cell(source_file);
    in.ptx_line = static_cast<std::uint32_t>(table.whole(ptx_line));
    in.source_line = static_cast<std::uint32_t>(table.whole(source_line));
    const auto sums = counters_of(in.counts);
    for (std::size_t i = 0; i < sums.size(); ++i) *sums[i] = table.whole(counters[i]);
    for (std::size_t b = 0; b < buckets.size(); ++b) in.counts.cycles[b] = table.whole(buckets[b]);
    ProfiledKernel& last = profile.kernels.back();
    if (!in.pc.has_value()) {
      last.rest += in.counts;
    } else if (*in.pc == last.instructions.size()) {
      last.instructions.push_back(std::move(in));
    } else {
      throw InputError(run.file("instructions.csv"),
                       "kernel '" + last.name + "': found pc " + std::to_string(*in.pc) +
                           "; allowed: " + std::to_string(last.instructions.size()) + ", the next one");
    }
  }
  read_kernels(run, profile);
  return profile;
}

std::vector<CountedLine> lines_of(const ProfiledKernel& kernel, LinesOf what) {
  std::vector<std::string> files;
  std::map<std::pair<std::size_t, std::uint32_t>, LineCounts> sums;
  LineCounts unknown;
  bool has_unknown = false;
  for (const ProfiledInstruction& in : kernel.instructions) {
    const std::string& file = what == LinesOf::kPtx ? in.ptx_file : in.source_file;
    const std::uint32_t line = what == LinesOf::kPtx ? in.ptx_line : in.source_line;
    if (line == 0) {
      unknown += in.counts;
      has_unknown = true;
      continue;
    }
    const auto known = std::find(files.begin(), files.end(), file);
    const auto number = static_cast<std::size_t>(known - files.begin());
    if (known == files.end()) files.push_back(file);
    sums[{number, line}] += in.counts;
  }
  std::vector<CountedLine> lines;
  lines.reserve(sums.size() + 1);
  for (const auto& [place, counts] : sums) lines.push_back({files[place.first], place.second, counts});
  if (has_unknown) lines.push_back({"", 0, unknown});
  return lines;
}

namespace {

// Where threads may go after the instruction, in the same function.
std::vector<std::uint32_t> successors(const ProfiledInstruction& in, std::uint32_t size) {
  const bool ends = in.kind == "exit" && in.counts.executed == in.counts.threads;
  std::vector<std::uint32_t> next;
  if ((in.kind == "branch" || in.kind == "jump") && in.target.has_value()) next.push_back(*in.target);
  if (!ends && in.kind != "jump") next.push_back(*in.pc + 1);
  next.erase(std::remove_if(next.begin(), next.end(), [size](std::uint32_t pc) { return pc >= size; }),
             next.end());
  return next;
}

// The instructions on all ways from the branch to where its threads meet again.
std::vector<bool> region_of(const ProfiledKernel& kernel, const ProfiledInstruction& branch) {
  const auto size = static_cast<std::uint32_t>(kernel.instructions.size());
  std::vector<bool> region(size, false);
  std::vector<std::uint32_t> open = successors(branch, size);
  while (!open.empty()) {
    const std::uint32_t pc = open.back();
    open.pop_back();
    if (region[pc] || pc == branch.reconvergence) continue;
    region[pc] = true;
    for (const std::uint32_t next : successors(kernel.instructions[pc], size)) open.push_back(next);
  }
  return region;
}

// Threads of a place in the issues of an instruction, on average.
double filled(const LineCounts& counts) {
  return counts.places == 0 ? 0 : static_cast<double>(counts.threads) / static_cast<double>(counts.places);
}

// The same when threads come to the region: at the branch, or, where the branch is that of a loop and lies
// within, at what leads into the loop.
double filled_before(const ProfiledKernel& kernel, const std::vector<bool>& region,
                     const ProfiledInstruction& branch) {
  const auto size = static_cast<std::uint32_t>(kernel.instructions.size());
  LineCounts entries;
  for (const ProfiledInstruction& in : kernel.instructions) {
    const std::vector<std::uint32_t> next = successors(in, size);
    const bool enters = std::any_of(next.begin(), next.end(), [&](std::uint32_t pc) { return region[pc]; });
    if (enters && !region[*in.pc]) entries += in.counts;
  }
  return filled(entries.places == 0 ? branch.counts : entries);
}

}  // namespace

std::vector<BranchCost> branch_costs(const ProfiledKernel& kernel) {
  struct Region {
    std::vector<bool> has;
    std::size_t size = 0;
    double before = 0;  // filled when threads come to it
    BranchCost cost;
  };
  std::vector<Region> regions;
  for (const ProfiledInstruction& in : kernel.instructions) {
    if (in.counts.parted == 0) continue;
    Region& region = regions.emplace_back();
    region.has = region_of(kernel, in);
    region.size = static_cast<std::size_t>(std::count(region.has.begin(), region.has.end(), true));
    region.before = filled_before(kernel, region.has, in);
    region.cost.branch = &in;
  }
  // The outer ones first, so that those around an instruction come in the order of their nesting.
  std::stable_sort(regions.begin(), regions.end(),
                   [](const Region& a, const Region& b) { return a.size > b.size; });
  for (std::size_t pc = 0; pc < kernel.instructions.size(); ++pc) {
    const LineCounts& counts = kernel.instructions[pc].counts;
    BranchCost* inner = nullptr;
    double before = 0;  // of `inner`
    for (Region& region : regions) {
      if (!region.has[pc]) continue;
      region.cost.places += counts.places;
      region.cost.empty += counts.places - std::min(counts.places, counts.threads);
      if (inner != nullptr) inner->lost += static_cast<double>(counts.places) * (before - region.before);
      inner = &region.cost;
      before = region.before;
    }
    if (inner != nullptr) inner->lost += static_cast<double>(counts.places) * (before - filled(counts));
  }
  std::vector<BranchCost> costs;
  costs.reserve(regions.size());
  for (const Region& region : regions) costs.push_back(region.cost);
  std::stable_sort(costs.begin(), costs.end(), [](const auto& a, const auto& b) { return a.lost > b.lost; });
  return costs;
}

std::string main_stall(const LineCounts& counts, double* share) {
  std::size_t most = 1;
  std::uint64_t stalls = 0;
  for (std::size_t b = 1; b < counts.cycles.size(); ++b) {
    stalls += counts.cycles[b];
    if (counts.cycles[b] > counts.cycles[most]) most = b;
  }
  if (share != nullptr)
    *share = stalls == 0 ? 0 : static_cast<double>(counts.cycles[most]) / static_cast<double>(stalls);
  return stalls == 0 ? "" : warp_formation::bucket_name(static_cast<Stall>(most));
}

}  // namespace weft::study
