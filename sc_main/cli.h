// The command line of Weft: sub-commands, their options, exit codes.
//
// Exit codes (part of the interface): 0 done and verified, 1 a wrong result, 2 bad usage, configuration or
// input, 3 a simulated fault or hang. Each sub-command is one file; it gets the words after its name and
// returns a code, or throws: InputError becomes 2, SimulatedFault 3.
#ifndef WEFT_SC_MAIN_CLI_H
#define WEFT_SC_MAIN_CLI_H

#include <vector>

#include "study/terminal/words.h"
#include "weft/common/error.h"

namespace weft::study {}

namespace weft::cli {

// A command reads options and hands over to the study: the names of both are used together.
using namespace study;  // NOLINT(google-build-using-namespace)

int main(int argc, char** argv);

struct Command {
  const char* name;
  const char* summary;
  ExitCode (*run)(const Words& words);
};
// As `weft --help` lists them.
std::vector<Command> commands();

ExitCode annotate(const Words& words);
ExitCode area(const Words& words);
ExitCode bench(const Words& words);
ExitCode check_config(const Words& words);
ExitCode compare(const Words& words);
ExitCode completion(const Words& words);
ExitCode cuda(const Words& words);
ExitCode demo(const Words& words);
ExitCode energy(const Words& words);
ExitCode list(const Words& words);
ExitCode man(const Words& words);
ExitCode measure(const Words& words);
ExitCode ptx(const Words& words);
ExitCode characterize(const Words& words);
ExitCode report(const Words& words);
ExitCode reproduce(const Words& words);
ExitCode run(const Words& words);
ExitCode schema(const Words& words);
ExitCode soc(const Words& words);
ExitCode sweep(const Words& words);

}  // namespace weft::cli

#endif
