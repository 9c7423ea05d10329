// Latency and throughput of instructions, and how many warps hide a latency.
#include "microbenchmarks/chains.h"
#include "microbenchmarks/measurement.h"

namespace weft::microbenchmarks {
namespace {

// Results per cycle of one SM: a warp has 32 of each instruction.
double throughput(Bench& bench, const Chain& chain, unsigned warps, unsigned count) {
  return 32.0 * chain.instructions * count * warps / cycles_of_step(bench, chain, warps, count);
}

std::vector<std::pair<std::string, std::string>> parameters_of(const Chain& chain) {
  std::vector<std::pair<std::string, std::string>> parameters{{"instruction", chain.instruction}};
  if (chain.addresses != 0 || chain.instruction == "bar.sync")
    parameters.emplace_back("threads", std::to_string(chain.threads));
  if (chain.addresses != 0) parameters.emplace_back("addresses", std::to_string(chain.addresses));
  return parameters;
}

}  // namespace

void add_instructions(std::vector<Measurement>& all, const Facts& facts) {
  const std::vector<Chain> list = chains();
  for (const Chain& chain : list) {
    if (chain.threads > facts.threads_per_block) continue;
    all.push_back({"latency", "cycles", parameters_of(chain),
                   [chain](Bench& bench) { return cycles_of_step(bench, chain, 0, 1); }});
  }
  const unsigned most_warps = facts.threads_per_block / 32;
  for (const Chain& chain : list) {
    if (!chain.throughput) continue;
    for (const unsigned count : {1u, 4u}) {
      for (const unsigned warps : {2u, 4u, 8u, 16u, 32u}) {
        if (warps > most_warps) continue;
        all.push_back(
            {"throughput",
             "results/cycle/SM",
             {{"instruction", chain.instruction},
              {"warps", std::to_string(warps)},
              {"chains", std::to_string(count)}},
             [chain, warps, count](Bench& bench) { return throughput(bench, chain, warps, count); }});
      }
    }
  }
  for (const Chain& chain : list) {
    if (chain.instruction != "fma.rn.f32") continue;
    for (const unsigned warps : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 10u, 12u, 14u, 16u, 20u, 24u, 28u, 32u}) {
      if (warps > most_warps) continue;
      all.push_back({"latency_hiding",
                     "results/cycle/SM",
                     {{"instruction", chain.instruction}, {"warps", std::to_string(warps)}},
                     [chain, warps](Bench& bench) { return throughput(bench, chain, warps, 1); }});
    }
  }
}

}  // namespace weft::microbenchmarks
