#include "sc_main/engine_options.h"

#include "weft/common/error.h"

namespace weft::cli {

Engine EngineOptions::checked() const {
  if (engine != "local" && engine != "slurm")
    throw InputError("--engine", "found '" + engine + "'; allowed: local, slurm");
  if (!slurm.empty() && engine != "slurm") throw InputError("--slurm", "is allowed with --engine slurm only");
  return {jobs, engine == "slurm", slurm};
}

Options engine_options(EngineOptions& options) {
  Options description("execution of runs");
  description.number("jobs", options.jobs, {1, 1024, 1, "runs"}, "runs at a time (number of cores)")
      .text("engine", options.engine, "local|slurm", "run on this machine, or as job arrays of Slurm")
      .text("slurm", options.slurm, "OPTIONS", "with --engine slurm: further options of sbatch, as one word");
  return description;
}

}  // namespace weft::cli
