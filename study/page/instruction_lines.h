// instructions.csv and kernels.json of a run, and what they say of lines: of the PTX, and of the source.
#ifndef WEFT_STUDY_PAGE_INSTRUCTION_LINES_H
#define WEFT_STUDY_PAGE_INSTRUCTION_LINES_H

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "study/run/result_run.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::study {

// Sums of columns of instructions.csv.
struct LineCounts {
  std::uint64_t issues = 0, threads = 0, places = 0, executed = 0, parted = 0, active_beats = 0,
                active_lanes = 0;
  std::uint64_t memory_threads = 0, coalesced_requests = 0, data_requests = 0, shared_accesses = 0,
                shared_conflict_cycles = 0;
  std::array<std::uint64_t, warp_formation::kStalls> cycles{};  // [0] issued, else by Stall

  LineCounts& operator+=(const LineCounts& other);
  std::uint64_t all_cycles() const;
  // A derived value ("lane_activity"); none if it is of nothing, or lines do not count it.
  std::optional<double> of(const char* name, unsigned lanes) const;
};

struct ProfiledInstruction {
  std::optional<std::uint32_t> pc;  // none: the row of what belongs to no instruction
  std::string kind, space;          // "branch"; "global"
  std::optional<std::uint32_t> target, reconvergence;
  std::string ptx_file, source_file;
  std::uint32_t ptx_line = 0, source_line = 0;  // 0: unknown
  LineCounts counts;
};

// A kernel's program. Of one kernel there may be several: modules loaded again, other numbers of registers.
struct ProfiledKernel {
  std::string name;
  std::uint64_t program = 0;
  std::vector<ProfiledInstruction> instructions;  // by PC
  LineCounts rest;                                // of no instruction
  nlohmann::ordered_json shape;                   // of kernels.json; null if it is not there
  LineCounts sum() const;                         // rest included
};

struct LineProfile {
  unsigned lanes = 0;
  std::vector<ProfiledKernel> kernels;
  std::map<std::string, std::vector<std::string>> texts;  // lines of files
  // The line's text; empty if it is not known.
  const std::string& line(const std::string& file, std::uint32_t number) const;
};

// Throws InputError if there is no instructions.csv (which says how to get one), or it is broken.
LineProfile read_line_profile(const ResultRun& run);

// The instructions of a kernel by line: file, number, sums. In the order of files as they come, then lines.
// Instructions without a line are in one of number 0, the last.
struct CountedLine {
  std::string file;
  std::uint32_t line = 0;
  LineCounts counts;
};
enum class LinesOf { kSource, kPtx };
std::vector<CountedLine> lines_of(const ProfiledKernel& kernel, LinesOf what);

// A place where threads part, and what comes of it: on the ways from there to where its threads meet again,
// called functions left out.
struct BranchCost {
  const ProfiledInstruction* branch = nullptr;
  // Places for threads in the issues there, and those that were empty for whatever reason.
  std::uint64_t places = 0, empty = 0;
  // Those that this branch emptied: in each issue, the share of the places that were filled when threads came
  // to this branch (or to the loop of which it is a part), less the share at the next branch within which the
  // issue lies, too, or else in the issue itself. So over all branches around an instruction this sums to
  // what was emptied since the outermost of them. Less than 0: threads of several warps were brought
  // together.
  double lost = 0;
};
// Those after which threads have parted at least once; the one that loses most first.
std::vector<BranchCost> branch_costs(const ProfiledKernel& kernel);

// "issued", "memory"...: the bucket without an issue that has most cycles; empty if none has.
std::string main_stall(const LineCounts& counts, double* share = nullptr);

}  // namespace weft::study

#endif
