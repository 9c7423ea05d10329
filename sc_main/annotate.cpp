// `weft annotate`: what the lines of a kernel took, of the CUDA source and of the PTX.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "common/demangle.h"
#include "sc_main/options.h"
#include "study/page/instruction_lines.h"
#include "study/terminal/table.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

std::string in_percent(double part, double whole) {
  return fmt::format("{:.1f}", whole == 0 ? 0 : 100 * part / whole);
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

TextTable count_table() {
  return TextTable({{"cycles", Align::kRight, 10},
                    {"%", Align::kRight, 5},
                    {"issues", Align::kRight, 9},
                    {"lanes %"},
                    {"waits for", Align::kLeft, 22},
                    {"requests"},
                    {"threads/req"},
                    {"line", Align::kLeft}},
                   0);
}

// What is counted for a line, and what the line is.
void add_counts(TextTable& table, const LineCounts& c, std::uint64_t all_cycles, unsigned lanes,
                std::string line) {
  const std::uint64_t cycles = c.all_cycles();
  double share = 0;
  std::string stall = main_stall(c, &share);
  if (!stall.empty()) stall += " " + in_percent(share, 1) + " %";
  const auto activity = c.of("lane_activity", lanes), threads = c.of("threads_per_request", lanes);
  table.row({std::to_string(cycles), in_percent(static_cast<double>(cycles), static_cast<double>(all_cycles)),
             std::to_string(c.issues), activity ? in_percent(*activity, 1) : "", std::move(stall),
             threads ? std::to_string(c.coalesced_requests) : "",
             threads ? fmt::format("{:.1f}", *threads) : "", std::move(line)});
}

void print_lines(const ProfiledKernel& kernel, const LineProfile& profile, LinesOf what,
                 std::uint64_t all_cycles, const Paint& paint) {
  std::string file;
  std::optional<TextTable> table;
  for (const CountedLine& line : lines_of(kernel, what)) {
    if (!table || (line.line != 0 && line.file != file)) {
      if (table) std::cout << table->text(0, paint);
      table.emplace(count_table());
      file = line.file;
      std::cout << "\n  " << (what == LinesOf::kPtx ? "PTX " : "source ")
                << (line.line == 0                   ? "(not named in the code)"
                    : profile.texts.count(file) == 0 ? shown(file) + " (text not found)"
                                                     : shown(file))
                << "\n";
    }
    add_counts(*table, line.counts, all_cycles, profile.lanes,
               line.line == 0 ? "(instructions without a line)"
                              : fmt::format("{:4}  {}", line.line, shown(profile.line(file, line.line))));
  }
  if (!table) table.emplace(count_table());
  add_counts(*table, kernel.rest, all_cycles, profile.lanes,
             "(no instruction: no threads, or after the last issue)");
  add_counts(*table, kernel.sum(), all_cycles, profile.lanes, "sum");
  std::cout << table->text(0, paint);
}

void print_branches(const ProfiledKernel& kernel, const Paint& paint) {
  const auto costs = branch_costs(kernel);
  if (costs.empty()) return;
  TextTable table({{"emptied", Align::kRight, 11},
                   {"empty", Align::kRight, 9},
                   {"of places %"},
                   {"issues", Align::kRight, 9},
                   {"diverged %"},
                   {"taken %"},
                   {"line", Align::kLeft}},
                  0);
  for (const BranchCost& cost : costs) {
    const ProfiledInstruction& in = *cost.branch;
    const auto percent = [](std::uint64_t part, std::uint64_t whole) {
      return in_percent(static_cast<double>(part), static_cast<double>(whole));
    };
    std::string line = fmt::format("({}:{})", shown(in.ptx_file), in.ptx_line);
    if (in.source_line != 0) line = fmt::format("{}:{} {}", shown(in.source_file), in.source_line, line);
    table.row({std::to_string(std::llround(cost.lost)), std::to_string(cost.empty),
               percent(cost.empty, cost.places), std::to_string(in.counts.issues),
               percent(in.counts.parted, in.counts.issues), percent(in.counts.executed, in.counts.threads),
               std::move(line)});
  }
  std::cout << "\n  divergent branches: places for threads that each branch emptied, and all empty places "
               "until its threads reconverged\n"
            << table.text(0, paint);
}

}  // namespace

ExitCode annotate(const Words& words) {
  std::string folder, kernel, view = "both";
  Options options("options");
  options.text("dir", folder, "DIR", "folder of results of a run with sm.observe.instructions", true)
      .text("kernel", kernel, "NAME", "only this kernel, by its name in PTX or in C++ (all)")
      .text("view", view, "source|ptx|both", "which lines");
  if (!parse(words, "weft annotate DIR [--kernel NAME] [--view source|ptx|both]", options, "dir"))
    return ExitCode::kDone;
  if (view != "source" && view != "ptx" && view != "both")
    throw InputError("--view", "found '" + view + "'; allowed: source, ptx, both");
  const auto runs = runs_of(folder);
  const Paint paint = Paint::of(STDOUT_FILENO);
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
      if (view != "ptx") print_lines(candidate, profile, LinesOf::kSource, sum.all_cycles(), paint);
      if (view != "source") print_lines(candidate, profile, LinesOf::kPtx, sum.all_cycles(), paint);
      print_branches(candidate, paint);
      std::cout << "\n";
    }
  }
  if (!found)
    throw InputError("--kernel", "found '" + kernel + "'; allowed: " +
                                     (known.empty() ? "none: no kernel ran with timing" : known));
  std::cout << "Cycles are those of schedulers. A cycle with issues counts for the first instruction issued. "
               "A cycle without an issue\ncounts for the instruction that the scheduler issues next, for "
               "which it waited.\n";
  return ExitCode::kDone;
}

}  // namespace weft::cli
