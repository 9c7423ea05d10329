// The options of commands that do a plan's runs: where, and how many at a time.
#ifndef WEFT_SC_MAIN_ENGINE_OPTIONS_H
#define WEFT_SC_MAIN_ENGINE_OPTIONS_H

#include <cstdint>
#include <string>

#include "sc_main/options.h"
#include "study/run/executor.h"

namespace weft::cli {

struct EngineOptions {
  std::uint64_t jobs = 0;
  std::string engine = "local", slurm;

  // Throws InputError.
  Engine checked() const;
};

// --jobs, --engine, --slurm.
Options engine_options(EngineOptions& options);

}  // namespace weft::cli

#endif
