#include "sc_main/engine_options.h"

#include "weft/common/error.h"

namespace weft::cli {

Engine EngineOptions::checked() const {
  if (engine != "local" && engine != "slurm")
    throw InputError("--engine", "found '" + engine + "'; allowed: local, slurm");
  if (!slurm.empty() && engine != "slurm")
    throw InputError("--slurm", "has a meaning with --engine slurm only");
  return {jobs, engine == "slurm", slurm};
}

Options engine_options(EngineOptions& options) {
  Options description("where runs are done");
  description
      .number("jobs", options.jobs, {1, 1024, 1, "runs"}, "runs at a time; as many as cores if not given")
      .text("engine", options.engine, "local|slurm", "where: on this machine, or as job arrays of Slurm")
      .text("slurm", options.slurm, "OPTIONS", "with --engine slurm: further options of sbatch, in one text");
  return description;
}

}  // namespace weft::cli
