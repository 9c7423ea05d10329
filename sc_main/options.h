// Option groups that several sub-commands share, on Boost.Program_options.
#ifndef WEFT_SC_MAIN_OPTIONS_H
#define WEFT_SC_MAIN_OPTIONS_H

#include <boost/program_options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/launch.h"
#include "sc_main/cli.h"
#include "sc_main/session.h"

namespace weft::cli {

// --config, --set, --out, --max-cycles, --no-sleep, --monitors, --vcd...
boost::program_options::options_description session_options(SessionOptions& options);

// Parses the words; options without a name are `positional`, if given, else an error. Prints `usage` and the
// options and returns false if --help is among them. Throws boost::program_options::error.
bool parse(const Words& words, const std::string& usage,
           const boost::program_options::options_description& options, const std::string& positional = "");

// "x", "x,y" or "x,y,z", each from 1 to 2^32 - 1; missing ones are 1. Throws InputError.
dispatch::Dim3 parse_dim3(const std::string& option, const std::string& text);
// A whole number from 0 to 2^64 - 1, decimal or 0x. Throws InputError.
std::uint64_t parse_unsigned(const std::string& where, const std::string& text,
                             std::uint64_t high = UINT64_MAX);

}  // namespace weft::cli

#endif
