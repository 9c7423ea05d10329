// The options of a sub-command: what each may be is declared with it, read in one way, and shown by --help.
//
//   Options options("machine and results");
//   options.number("jobs", jobs, {1, 1024, 1, "runs"}, "runs at a time")
//       .text("out", out, "DIR", "folder for results");
//   if (!parse(words, "weft thing [OPTIONS]", options)) return ExitCode::kDone;
//
// In --help a number shows as N or X (a real one), with its bounds.
#ifndef WEFT_SC_MAIN_OPTIONS_H
#define WEFT_SC_MAIN_OPTIONS_H

#include <boost/program_options.hpp>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/number.h"
#include "sc_main/cli.h"
#include "study/session/session.h"
#include "weft/dispatch/launch.h"

namespace weft::cli {

class Options {
 public:
  explicit Options(const std::string& caption) : description_(caption) {}

  Options& number(const char* name, std::uint64_t& target, const Bounds& bounds, const std::string& meaning);
  Options& real(const char* name, double& target, const RealBounds& bounds, const std::string& meaning);
  // Text that is not empty. `placeholder` stands for it in --help: NAME, FILE, x,y,z. A target that is not
  // empty is the default. An option that is `required` may stand without its name, if parse() is told so.
  Options& text(const char* name, std::string& target, const char* placeholder, const std::string& meaning,
                bool required = false);
  // Text that may be left out: `--name` alone means `implied`, another one is `--name=TEXT`.
  Options& word(const char* name, std::string& target, const char* placeholder, const std::string& implied,
                const std::string& meaning);
  // As text, several times, or, `together`, with several values at once.
  Options& list(const char* name, std::vector<std::string>& target, const char* placeholder,
                const std::string& meaning, bool together = true);
  Options& flag(const char* name, bool& target, const std::string& meaning);
  // --plugin: what it names, and what WEFT_PLUGINS names, is loaded while the options are parsed. For
  // commands that read a GPU's configuration.
  Options& plugins();
  Options& add(const Options& more);

  const boost::program_options::options_description& description() const { return description_; }
  bool has_plugins() const { return has_plugins_; }

 private:
  boost::program_options::options_description description_;
  bool has_plugins_ = false;
};

// --config, --set, --out, --max-cycles, --no-sleep, --monitors, --vcd...
Options session_options(SessionOptions& options);
// --gdb and --gdb-symbols. A port that is not given stays kNoGdb.
inline constexpr std::uint64_t kNoGdb = UINT64_MAX;
void add_gdb_options(Options& description, std::uint64_t& port, std::string& symbols);
// The bounds of --max-cycles, wherever there is one.
inline constexpr Bounds kSampleBounds{1, Recordings::kMostSampleInterval, 1, "core cycles"};
inline constexpr Bounds kCycleBounds{1, UINT64_MAX, 1, "core cycles"};
// Of --max-instructions, and of --check-reports.
inline constexpr Bounds kInstructionBounds{1, UINT64_MAX, 1, "instructions"};
inline constexpr Bounds kReportBounds{1, UINT64_MAX, 1, "reports"};

// What a command says of itself, for its manual page and for completion.
struct OptionText {
  std::string name, value, meaning;  // value: as in --help; empty: it has none
  bool flag = false;
  bool several = false;  // takes the words that follow, too
};
struct CommandText {
  std::string usage;
  std::vector<OptionText> options;
  std::vector<std::string> positional;
  bool positional_repeats = false;  // the last one
};
// Thrown by parse() instead of parsing, if the only word is kDescribe, which nobody can type.
struct CommandDescribed : std::exception {
  explicit CommandDescribed(CommandText described) : text(std::move(described)) {}
  const char* what() const noexcept override { return "the command describes its options"; }
  CommandText text;
};
inline constexpr std::string_view kDescribe{"\0describe", 9};

// Parses the words; those without a name are `positional`, in this order ("what name"; "dir..." takes all
// that are left), else an error. Prints `usage` and the options and returns false if --help is among them.
// Throws InputError or boost::program_options::error.
bool parse(const Words& words, const std::string& usage, const Options& options,
           const std::string& positional = "");

// "x", "x,y" or "x,y,z", each from 1 to what `most` says; missing ones are 1. Throws InputError.
dispatch::Dim3 parse_dim3(const std::string& option, const std::string& text, const dispatch::Dim3& most);

}  // namespace weft::cli

#endif
