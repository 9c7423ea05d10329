// `weft man` and `weft completion bash`: the manual page and the completion of the command line, out of what
// commands declare. `cmake --install` puts both where man and bash look.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "sc_main/options.h"
#include "study/session/version.h"

namespace weft::cli {
namespace {

// A command is described, not run.
CommandText text_of_command(const Command& command) {
  try {
    command.run({std::string(kDescribe)});
  } catch (const CommandDescribed& described) {
    return described.text;
  }
  throw std::logic_error(std::string("weft ") + command.name + " does not describe its options");
}

// Text as roff wants it: no character of it is an instruction.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

struct Item {
  const char* name;
  const char* text;
};

constexpr std::array kExitCodes{
    Item{"0", "done and verified"}, Item{"1", "a wrong result, or a protocol violation with --monitors"},
    Item{"2", "bad usage, configuration or input, or results that cannot be written"},
    Item{"3",
         "a simulated fault or hang, a finding of --check, a signal, or a limit of cycles or instructions"}};
constexpr std::array kVariables{
    Item{"WEFT_CONFIGS", "folder of configurations, instead of the installed folder"},
    Item{"WEFT_EXPERIMENTS", "folder of experiments of weft reproduce, instead of the installed folder"},
    Item{"WEFT_DRAWING",
         "folder of the program draw_figures, which draws figures of experiments, instead of the installed "
         "folder"},
    Item{"WEFT_PLUGINS", "shared objects with warp-formation schemes, separated by colons"},
    Item{"NO_COLOR", "with any value: no colour on terminals"},
    Item{"TMPDIR", "folder of temporary files, and of results that cannot be written to their own folder"}};

template <std::size_t Size>
void write_items(std::ostream& out, const char* section, const std::array<Item, Size>& items) {
  out << ".SH " << section << "\n";
  for (const Item& item : items) out << ".TP\n.B " << roff(item.name) << "\n" << roff(item.text) << "\n";
}

void write_page(std::ostream& out) {
  out << ".\\\" Made by `weft man`.\n"
      << ".TH WEFT 1 \"\" \"Weft " << roff(version()) << "\" \"User Commands\"\n"
      << ".SH NAME\nweft \\- virtual platform of a SIMT GPU that runs PTX\n"
      << ".SH SYNOPSIS\n.B weft\n.I COMMAND\n.RI [ OPTIONS ]\n.br\n.B weft\n.I COMMAND\n.B \\-\\-help\n.br\n"
      << ".B weft \\-\\-version\n"
      << ".SH DESCRIPTION\nWeft simulates a whole GPU, from the streaming multiprocessors to memory, and "
         "runs PTX kernels on it. The\nvalue of an option follows a blank or \\(lq=\\(rq; names cannot be "
         "abbreviated.\n"
      << ".SH COMMANDS\n";
  for (const Command& command : commands()) {
    const CommandText text = text_of_command(command);
    out << ".SS weft " << roff(command.name) << "\n" << roff(command.summary) << ".\n.PP\n.nf\n";
    std::istringstream usage(text.usage);
    for (std::string line; std::getline(usage, line);)
      out << roff(line.substr(std::min(line.find_first_not_of(' '), line.size()))) << "\n";
    out << ".fi\n";
    for (const OptionText& option : text.options) {
      out << ".TP\n.BR " << roff("--" + option.name);
      if (!option.value.empty()) out << " \" " << roff(option.value) << "\"";
      out << "\n" << roff(option.meaning) << "\n";
    }
  }
  write_items(out, "EXIT STATUS", kExitCodes);
  write_items(out, "ENVIRONMENT", kVariables);
}

// What a word may be: a list of `weft list`, one of it after commas ("list,"), files, or words with bars
// between. Empty: nothing is known.
std::string kind_of(const std::string& command, const OptionText& option) {
  static const std::map<std::string, std::string> kinds{
      {"config", "configs"},  {"workload", "workloads"},        {"workloads", "workloads,"},
      {"scheme", "schemes"},  {"schemes", "schemes,"},          {"size", "small|default|large"},
      {"region", "profiler"}, {"reproduce name", "experiments"}};
  if (option.flag) return "flag";
  for (const std::string& name : {command + " " + option.name, option.name}) {
    const auto found = kinds.find(name);
    if (found != kinds.end()) return found->second;
  }
  for (const char* file : {"FILE", "DIR"}) {
    if (option.value.find(file) != std::string::npos) return "files";
  }
  const std::string words = option.value.substr(0, option.value.find(' '));  // without the default
  return words.find('|') != std::string::npos && words[0] != '[' ? words : "";
}

constexpr const char* kBashFunctions = R"bash(
# Candidates of a kind, one a line. PROGRAM KIND
_weft_candidates() {
  case $2 in
    configs | workloads | schemes | statistics) "$1" list "$2" 2>/dev/null | sed '/^+/d; s/ .*//' ;;
    experiments) "$1" reproduce 2>/dev/null | sed '/^$/d; /^name /d; s/ .*//' ;;
    *) printf '%s\n' "${2//|/$'\n'}" ;;
  esac
}

_weft() {
  local program=$1 current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} option='' kind='' prefix='' i places=0
  # The script `weft` of the sources would build what is missing.
  if [ -f "${program%weft}packages.txt" ]; then program=${program%weft}build/release/sc_main/weft; fi
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$_weft_commands" -- "$current")
    return
  fi
  # An equals sign is a word of its own.
  if [ "$current" = = ]; then current=''; fi
  for ((i = 2; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      --)
        option=''
        kind=files
        break
        ;;
      --*)
        option=${COMP_WORDS[i]}
        kind=$(_weft_kind "$command $option")
        if [ "$kind" = flag ]; then option=''; fi
        ;;
      =) ;;
      *)
        if [ -z "$option" ]; then
          places=$((places + 1))
        elif ! _weft_takes_several "$command $option"; then
          option=''
        fi
        ;;
    esac
  done
  if [ "$i" = "$COMP_CWORD" ]; then # there is no -- before
    if [[ $current == -* ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$(_weft_options "$command")" -- "$current")
      return
    fi
    if [ -z "$option" ]; then
      kind=$(_weft_place "$command $places")
      if [ "$command $places" = "list 1" ]; then kind=${COMP_WORDS[2]}; fi
    fi
  fi
  case $kind in
    '') return ;;
    files)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    *,)
      compopt -o nospace 2>/dev/null
      case $current in *,*) prefix=${current%,*}, ;; esac
      ;;
  esac
  local IFS=$'\n'
  mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$(_weft_candidates "$program" "${kind%,}")" -- "${current#"$prefix"}")
  if [ "$kind" = configs ]; then
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X '!*.json' -- "$current")
  fi
}

complete -F _weft weft
)bash";

// A function that answers by its argument, which may end in a star: any text.
void write_cases(std::ostream& out, const char* name, const std::map<std::string, std::string>& answers) {
  std::map<std::string, std::string> patterns;
  for (const auto& [argument, answer] : answers) {
    std::string& pattern = patterns[answer];
    const std::size_t star = std::min(argument.find('*'), argument.size());
    pattern += (pattern.empty() ? "'" : " | '") + argument.substr(0, star) + "'" + argument.substr(star);
  }
  out << "\n" << name << "() {\n  case $1 in\n";
  for (const auto& [answer, pattern] : patterns) out << "    " << pattern << ") echo '" << answer << "' ;;\n";
  out << "  esac\n}\n";
}

void write_bash(std::ostream& out) {
  std::string names, several;
  std::map<std::string, std::string> options, kinds, places;
  for (const Command& command : commands()) {
    const std::string name = command.name;
    names += (names.empty() ? "" : " ") + name;
    const CommandText text = text_of_command(command);
    std::string all = "--help";
    for (const OptionText& option : text.options) {
      const std::string key = name + " --" + option.name;
      all += " --" + option.name;
      const std::string kind = kind_of(name, option);
      if (!kind.empty()) kinds[key] = kind;
      if (option.several) several += (several.empty() ? "'" : " | '") + key + "'";
    }
    options[name] = all;
    for (std::size_t i = 0; i < text.positional.size(); ++i) {
      for (const OptionText& option : text.options) {
        const std::string kind = kind_of(name, option);
        if (option.name != text.positional[i] || kind.empty()) continue;
        const bool rest = text.positional_repeats && i + 1 == text.positional.size();
        places[name + " " + (rest ? "*" : std::to_string(i))] = kind;
      }
    }
  }
  places["cuda *"] = "files";  // the program and its arguments
  out << "# Completion of weft for bash; made by `weft completion bash`. zsh takes it after\n"
         "#   autoload -U +X bashcompinit && bashcompinit\n"
      << "_weft_commands='" << names << " --help --version'\n";
  write_cases(out, "_weft_options", options);
  write_cases(out, "_weft_kind", kinds);
  write_cases(out, "_weft_place", places);
  out << "\n_weft_takes_several() {\n  case $1 in\n    " << several << ") ;;\n    *) return 1 ;;\n  esac\n}\n"
      << kBashFunctions;
}

}  // namespace

ExitCode man(const Words& words) {
  const Options none("options");
  if (parse(words, "weft man > weft.1", none)) write_page(std::cout);
  return ExitCode::kDone;
}

ExitCode completion(const Words& words) {
  std::string shell;
  Options options("options");
  options.text("shell", shell, "bash", "which shell", true);
  if (!parse(words, "weft completion bash > weft", options, "shell")) return ExitCode::kDone;
  if (shell != "bash") throw InputError("weft completion", "found '" + shell + "'; allowed: bash");
  write_bash(std::cout);
  return ExitCode::kDone;
}

}  // namespace weft::cli
