// `weft annotate`: what the lines of a kernel took, of the CUDA source and of the PTX.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>

#include "sc_main/instruction_lines.h"
#include "sc_main/options.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

std::string in_percent(double part, double whole) {
  char text[24];
  std::snprintf(text, sizeof text, "%.1f", whole == 0 ? 0 : 100 * part / whole);
  return text;
}

std::string right(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

std::string left(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : text + std::string(width - text.size(), ' ');
}

// Of the text of a file: control characters stay out of the terminal.
std::string shown(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\t') {
      result += "  ";
    } else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) {
      result += c;
    }
  }
  return result;
}

constexpr const char* kHeadings =
    "    cycles      %     issues  lanes %  waits for              requests  threads/req  line\n";

void print_counts(const LineCounts& c, std::uint64_t all_cycles, unsigned lanes) {
  const std::uint64_t cycles = c.all_cycles();
  double share = 0;
  std::string stall = main_stall(c, &share);
  if (!stall.empty()) stall += " " + in_percent(share, 1) + " %";
  const double beats = static_cast<double>(c.active_beats) * lanes;
  std::cout << right(std::to_string(cycles), 10)
            << right(in_percent(static_cast<double>(cycles), static_cast<double>(all_cycles)), 7)
            << right(std::to_string(c.issues), 11)
            << right(beats == 0 ? "" : in_percent(static_cast<double>(c.active_lanes), beats), 9) << "  "
            << left(stall, 22)
            << right(c.coalesced_requests == 0 ? "" : std::to_string(c.coalesced_requests), 9);
  char ratio[24] = "";
  if (c.coalesced_requests != 0) {
    std::snprintf(ratio, sizeof ratio, "%.1f",
                  static_cast<double>(c.memory_threads) / static_cast<double>(c.coalesced_requests));
  }
  std::cout << right(ratio, 13) << "  ";
}

void print_lines(const ProfiledKernel& kernel, const LineProfile& profile, LinesOf what,
                 std::uint64_t all_cycles) {
  std::string file;
  bool first = true;
  for (const CountedLine& line : lines_of(kernel, what)) {
    if (first || (line.line != 0 && line.file != file)) {
      file = line.file;
      std::cout << "\n  " << (what == LinesOf::kPtx ? "PTX " : "source ")
                << (line.line == 0                   ? "(the code does not name it)"
                    : profile.texts.count(file) == 0 ? shown(file) + " (its text is not at hand)"
                                                     : shown(file))
                << "\n"
                << kHeadings;
    }
    first = false;
    print_counts(line.counts, all_cycles, profile.lanes);
    if (line.line == 0) {
      std::cout << "(instructions without a line)\n";
    } else {
      std::cout << right(std::to_string(line.line), 4) << "  " << shown(profile.line(file, line.line))
                << "\n";
    }
  }
  print_counts(kernel.rest, all_cycles, profile.lanes);
  std::cout << "(no instruction: no threads, or after the last issue)\n";
  print_counts(kernel.sum(), all_cycles, profile.lanes);
  std::cout << "sum\n";
}

void print_branches(const ProfiledKernel& kernel) {
  const auto costs = branch_costs(kernel);
  if (costs.empty()) return;
  std::cout << "\n  branches whose threads parted: places for threads that each emptied, and all that were "
               "empty until its threads met\n"
            << "    emptied      empty  of these %     issues  parted %  taken %  line\n";
  for (const BranchCost& cost : costs) {
    const ProfiledInstruction& in = *cost.branch;
    const auto percent = [](std::uint64_t part, std::uint64_t whole) {
      return in_percent(static_cast<double>(part), static_cast<double>(whole));
    };
    std::cout << right(std::to_string(std::llround(cost.lost)), 11) << right(std::to_string(cost.empty), 11)
              << right(percent(cost.empty, cost.places), 12) << right(std::to_string(in.counts.issues), 11)
              << right(percent(in.counts.parted, in.counts.issues), 10)
              << right(percent(in.counts.executed, in.counts.threads), 9) << "  ";
    if (in.source_line != 0) std::cout << shown(in.source_file) << ":" << in.source_line << " ";
    std::cout << "(" << shown(in.ptx_file) << ":" << in.ptx_line << ")\n";
  }
}

}  // namespace

ExitCode annotate(const Words& words) {
  std::string folder, kernel, view = "both";
  Options options("options");
  options.text("dir", folder, "DIR", "folder of results of a run with sm.observe.instructions", true)
      .text("kernel", kernel, "NAME", "only this kernel, as in PTX or as in C++ (all)")
      .text("view", view, "NAME", "source, ptx or both");
  if (!parse(words, "weft annotate DIR [--kernel NAME] [--view source|ptx|both]", options, "dir"))
    return ExitCode::kDone;
  if (view != "source" && view != "ptx" && view != "both")
    throw InputError("--view", "found '" + view + "'; allowed: source, ptx, both");
  const auto runs = runs_of(folder);
  std::string known;
  bool found = false;
  for (const ResultRun& run : runs) {
    const LineProfile profile = read_line_profile(run);
    for (const ProfiledKernel& candidate : profile.kernels) {
      const std::string name = demangled_name(candidate.name);
      known += (known.empty() ? "" : ", ") + candidate.name;
      if (!kernel.empty() && kernel != candidate.name && kernel != name &&
          kernel != name.substr(0, name.find('(')))
        continue;
      found = true;
      const LineCounts sum = candidate.sum();
      std::cout << run.folder << ": kernel " << shown(name) << "\n"
                << "  " << sum.all_cycles() << " cycles of schedulers, " << sum.issues
                << " warp instructions, " << sum.threads << " thread instructions; "
                << in_percent(static_cast<double>(sum.cycles[0]), static_cast<double>(sum.all_cycles()))
                << " % of the cycles issued\n";
      if (view != "ptx") print_lines(candidate, profile, LinesOf::kSource, sum.all_cycles());
      if (view != "source") print_lines(candidate, profile, LinesOf::kPtx, sum.all_cycles());
      print_branches(candidate);
      std::cout << "\n";
    }
  }
  if (!found)
    throw InputError("--kernel", "found '" + kernel + "'; allowed: " +
                                     (known.empty() ? "none: no kernel ran in time" : known));
  std::cout
      << "Cycles are of schedulers, each charged to one instruction: with an issue, to the first one issued; "
         "without,\nto the next one that the scheduler issues, which is what it waited for.\n";
  return ExitCode::kDone;
}

}  // namespace weft::cli
