#include "sc_main/options.h"

#include <charconv>
#include <iostream>
#include <sstream>

namespace weft::cli {

namespace po = boost::program_options;

po::options_description session_options(SessionOptions& options) {
  po::options_description description("machine and results");
  auto add = description.add_options();
  add("config", po::value(&options.config)->default_value(options.config),
      "a name (weft list configs) or a JSON file (a path with a slash, or ending in .json)");
  add("set", po::value(&options.overrides)->composing()->multitoken(),
      "path=value ...: override values of the configuration, for example sm.count=4");
  add("out", po::value(&options.out), "folder for stats.json, config.json and summary.txt; made if missing");
  add("max-cycles", po::value(&options.max_cycles), "stop after this many core cycles (exit code 3)");
  add("max-instructions", po::value(&options.max_instructions),
      "stop after about this many instructions of threads, timed or not (exit code 3)");
  add("stack-bytes", po::value(&options.limits.stack_bytes),
      "local memory of a thread whose functions call themselves (1024)");
  add("printf-bytes", po::value(&options.limits.printf_bytes),
      "output of printf in kernels that is kept; older output gives way (1048576)");
  add("heap-bytes", po::value(&options.limits.heap_bytes),
      "device memory for malloc in kernels, if one uses it (8388608)");
  add("no-sleep", po::bool_switch(&options.no_sleep),
      "step every module at every clock edge: slower, identical statistics");
  add("monitors", po::bool_switch(&options.monitors),
      "check the TLM-2.0 protocol on every hop; a violation is a wrong result");
  add("vcd", po::value(&options.trace.file), "write waveforms to this file");
  add("vcd-start", po::value(&options.trace.start), "first core cycle of the waveforms");
  add("vcd-stop", po::value(&options.trace.stop), "last core cycle of the waveforms");
  add("functional", po::bool_switch(&options.functional),
      "run kernels without timing: the same results, no cycles, a few hundred times faster");
  add("fast-forward", po::value(&options.fast_forward),
      "N or KERNEL: run the first N launches, or those before the first launch of KERNEL, without timing");
  add("check", po::value(&options.checks)->composing()->multitoken(),
      "memory: every access against allocations, alignment and what has been written; race: accesses of "
      "threads "
      "that no barrier orders; warp: shuffles from threads that do not take part; exit code 3 if anything is "
      "found");
  add("check-reports", po::value(&options.check_reports)->default_value(options.check_reports),
      "a launch ends after reports about this many different instructions");
  return description;
}

bool parse(const Words& words, const std::string& usage, const po::options_description& options,
           const std::string& positional) {
  po::options_description all;
  all.add(options);
  all.add_options()("help,h", "print this");
  po::positional_options_description names;
  if (!positional.empty()) names.add(positional.c_str(), 1);

  // Abbreviations would make every new option a breaking change.
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  po::variables_map values;
  po::store(po::command_line_parser(words).options(all).positional(names).style(style).run(), values);
  if (values.count("help") != 0) {
    std::cout << "usage: " << usage << "\n\n" << options << "\n";
    return false;
  }
  po::notify(values);
  return true;
}

std::uint64_t parse_unsigned(const std::string& where, const std::string& text, std::uint64_t high) {
  const bool hex = text.rfind("0x", 0) == 0;
  const char* first = text.data() + (hex ? 2 : 0);
  const char* last = text.data() + text.size();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(first, last, value, hex ? 16 : 10);
  if (error != std::errc() || end != last || value > high) {
    throw InputError(where,
                     "found '" + text + "'; allowed: a whole number from 0 to " + std::to_string(high));
  }
  return value;
}

dispatch::Dim3 parse_dim3(const std::string& option, const std::string& text) {
  dispatch::Dim3 size{1, 1, 1};
  std::istringstream parts(text);
  std::string part;
  std::size_t count = 0;
  while (std::getline(parts, part, ',')) {
    if (count == size.size()) throw InputError(option, "found '" + text + "'; allowed: x,y,z");
    size[count++] = static_cast<std::uint32_t>(parse_unsigned(option, part, UINT32_MAX));
  }
  if (count == 0) throw InputError(option, "found '" + text + "'; allowed: x,y,z");
  return size;
}

}  // namespace weft::cli
