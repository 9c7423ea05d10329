#include "sc_main/options.h"

#include <iostream>
#include <sstream>

#include "sc_main/observe_options.h"
#include "weft/warp_formation/plugins.h"

namespace weft::cli {

namespace po = boost::program_options;

namespace {

std::string dashed(const char* name) {
  return std::string("--") + name;
}

void need_text(const std::string& option, const std::string& text) {
  if (text.empty()) throw InputError(option, "found ''; allowed: text that is not empty");
}

std::string range(const Bounds& bounds) {
  const std::string unit = *bounds.unit == '\0' ? "" : std::string(" ") + bounds.unit;
  return " [" + std::to_string(bounds.low) + " to " +
         (bounds.high == UINT64_MAX ? "2^64-1" : std::to_string(bounds.high)) + unit + "]";
}

}  // namespace

Options& Options::number(const char* name, std::uint64_t& target, const Bounds& bounds,
                         const std::string& meaning) {
  const auto read = [&target, bounds, option = dashed(name)](const std::string& text) {
    target = read_unsigned(option, text, bounds);
  };
  description_.add_options()(name, po::value<std::string>()->value_name("N")->notifier(read),
                             (meaning + range(bounds)).c_str());
  return *this;
}

Options& Options::real(const char* name, double& target, const RealBounds& bounds,
                       const std::string& meaning) {
  const auto read = [&target, bounds, option = dashed(name)](const std::string& text) {
    target = read_real(option, text, bounds);
  };
  std::ostringstream shown;
  shown << meaning << " [above " << bounds.above << ", up to " << bounds.high << " " << bounds.unit << "]";
  description_.add_options()(name, po::value<std::string>()->value_name("X")->notifier(read),
                             shown.str().c_str());
  return *this;
}

Options& Options::text(const char* name, std::string& target, const char* placeholder,
                       const std::string& meaning, bool required) {
  auto* const value = po::value(&target)->value_name(placeholder);
  if (!target.empty()) value->default_value(target);
  if (required) value->required();
  value->notifier([option = dashed(name)](const std::string& text) { need_text(option, text); });
  description_.add_options()(name, value, meaning.c_str());
  return *this;
}

Options& Options::word(const char* name, std::string& target, const char* placeholder,
                       const std::string& implied, const std::string& meaning) {
  auto* const value = po::value(&target)->implicit_value(implied)->value_name(placeholder);
  value->notifier([option = dashed(name)](const std::string& text) { need_text(option, text); });
  description_.add_options()(name, value, meaning.c_str());
  return *this;
}

Options& Options::list(const char* name, std::vector<std::string>& target, const char* placeholder,
                       const std::string& meaning, bool together) {
  auto* const value = po::value(&target)->composing()->value_name(placeholder);
  if (together) value->multitoken();
  value->notifier([option = dashed(name)](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) need_text(option, text);
  });
  description_.add_options()(name, value, meaning.c_str());
  return *this;
}

Options& Options::flag(const char* name, bool& target, const std::string& meaning) {
  description_.add_options()(name, po::bool_switch(&target), meaning.c_str());
  return *this;
}

Options& Options::plugins() {
  auto* const value = po::value<std::vector<std::string>>()->composing()->value_name("FILE");
  value->notifier([](const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      need_text("--plugin", file);
      try {
        load_plugin(file);
      } catch (const InputError& error) {
        throw InputError("--plugin", error.what());
      }
    }
  });
  description_.add_options()("plugin", value,
                             "shared object with parts of your own, such as a warp-formation scheme or a "
                             "replacement policy; can be repeated; also WEFT_PLUGINS, separated by colons");
  has_plugins_ = true;
  return *this;
}

Options& Options::add(const Options& more) {
  description_.add(more.description_);
  has_plugins_ = has_plugins_ || more.has_plugins_;
  return *this;
}

Options session_options(SessionOptions& options) {
  using runtime::DeviceLimits;
  Options group("machine and results");
  group
      .text("config", options.config, "NAME",
            "a name (weft list configs) or a JSON file (a path with a slash, or ending in .json)")
      .list("set", options.overrides, "PATH=VALUE",
            "override values of the configuration, for example sm.count=4")
      .plugins()
      .text("out", options.out, "DIR", "folder for stats.json, config.json and summary.txt; made if missing")
      .flag("no-sync", options.no_sync, "do not wait until results are on the disk")
      .number("max-cycles", options.max_cycles, kCycleBounds,
              "stop after this many core cycles (exit code 3)")
      .number("max-instructions", options.max_instructions, kInstructionBounds,
              "stop after about this many thread instructions, timed or not (exit code 3)")
      .number("stack-bytes", options.limits.stack_bytes, {0, DeviceLimits::kMostStack, 1, "bytes"},
              "local memory of a thread with recursive functions (1024)")
      .number("printf-bytes", options.limits.printf_bytes, {0, DeviceLimits::kMostPrintf, 1, "bytes"},
              "buffer for output of printf in kernels; older output is overwritten (1048576)")
      .number("heap-bytes", options.limits.heap_bytes, {0, DeviceLimits::kMostHeap, 1, "bytes"},
              "device memory for malloc in kernels, if a kernel uses malloc (8388608)")
      .flag("no-sleep", options.no_sleep,
            "step every module at every clock edge: slower, identical statistics")
      .flag("monitors", options.monitors,
            "check the TLM-2.0 protocol on every hop; a violation is a wrong result");
  add_trace_options(group, options.trace);
  add_transaction_options(group, options.transactions);
  add_timeline_options(group, options.timeline);
  group
      .number("sample", options.sample, kSampleBounds,
              "write samples.csv to --out: the activity of each SM in intervals of this many core cycles")
      .flag("functional", options.functional,
            "run kernels without timing: equal results, no cycles, a few hundred times faster")
      .text("fast-forward", options.fast_forward, "N|KERNEL",
            "run the first N launches, or those before the first launch of KERNEL, without timing")
      .list("check", options.checks, "memory|race|warp|scalar",
            "memory: every access against allocations, alignment and what has been written; race: accesses "
            "of threads that nothing orders; warp: primitives and barriers without threads that they name or "
            "read; scalar: whether the value per warp (scalarization) equals the value of each thread, with "
            "a second run; exit code 3 if anything is found, 1 if only scalar finds something")
      .number("check-reports", options.check_reports, kReportBounds,
              "reports about different instructions after which a launch ends (16)");
  return group;
}

void add_gdb_options(Options& description, std::uint64_t& port, std::string& symbols) {
  constexpr std::uint64_t kMostPort = 65535;
  description
      .number(
          "gdb", port, {0, kMostPort, 1, "TCP port"},
          "wait for GDB at this port of 127.0.0.1, 0: any free port, and stop before the first instruction")
      .text("gdb-symbols", symbols, "FILE",
            "with --gdb: write the symbols and lines of the kernels to this file (a temporary file)");
}

bool parse(const Words& words, const std::string& usage, const Options& options,
           const std::string& positional) {
  po::options_description all;
  all.add(options.description());
  all.add_options()("help,h", "print this");
  po::positional_options_description names;
  std::istringstream places(positional);
  CommandText text{usage, {}, {}, false};
  for (std::string name; places >> name;) {
    constexpr std::string_view kSeveral = "...";
    const std::size_t end = name.rfind(kSeveral);
    text.positional.push_back(name.substr(0, end));
    text.positional_repeats = end != std::string::npos;
    names.add(text.positional.back().c_str(), text.positional_repeats ? -1 : 1);
  }
  if (words.size() == 1 && words[0] == kDescribe) {
    for (const auto& option : options.description().options()) {
      const po::value_semantic& value = *option->semantic();
      const bool flag = value.max_tokens() == 0;
      text.options.push_back({option->long_name(), flag ? "" : option->format_parameter(),
                              option->description(), flag, value.max_tokens() > 1});
    }
    throw CommandDescribed(std::move(text));
  }

  // Abbreviations would make every new option a breaking change.
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  po::variables_map values;
  po::store(po::command_line_parser(words).options(all).positional(names).style(style).run(), values);
  if (values.count("help") != 0) {
    std::cout << "usage: " << usage << "\n\n" << options.description() << "\n";
    return false;
  }
  if (options.has_plugins()) load_plugins_of_environment();
  po::notify(values);
  return true;
}

dispatch::Dim3 parse_dim3(const std::string& option, const std::string& text, const dispatch::Dim3& most) {
  dispatch::Dim3 size{1, 1, 1};
  std::size_t begin = 0;
  for (std::size_t axis = 0; begin <= text.size(); ++axis) {
    if (axis == size.size()) throw InputError(option, "found '" + text + "'; allowed: x,y,z");
    const std::size_t end = std::min(text.find(',', begin), text.size());
    size[axis] = static_cast<std::uint32_t>(
        read_unsigned(option + ", " + "xyz"[axis], text.substr(begin, end - begin), {1, most[axis]}));
    begin = end + 1;
  }
  return size;
}

}  // namespace weft::cli
