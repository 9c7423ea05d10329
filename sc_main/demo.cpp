#include <iostream>

#include "sc_main/options.h"
#include "sc_main/session.h"

namespace weft::cli {

ExitCode demo(const Words& words) {
  SessionOptions options;
  options.config = "harp-fermi";
  if (!parse(words, "weft demo [OPTIONS]", session_options(options))) return ExitCode::kDone;

  const auto workload = workloads::find("bfs");
  Outcome outcome = outcome_of(*workload, "default");
  Session session(options);
  const GpuConfig& config = session.device().gpu().config();
  std::cout << "Breadth-first search over a random graph of " << outcome.size.at("n")
            << " vertices, from CUDA source ("
            << "workloads/bfs/bfs.cu)\ncompiled to PTX by " << outcome.code.compiler << ", on " << config.name
            << ": " << config.sm.count << " SMs, warps of " << config.warp_formation.warp_size
            << " threads,\ncrossbar, L2 and GDDR5, every memory access a TLM-2.0 transaction. One launch per "
               "level of "
               "the search.\n\n"
            << std::flush;
  return session.execute(outcome, *workload);
}

}  // namespace weft::cli
