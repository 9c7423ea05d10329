// Prints a trace of requests, or what Weft's scheduler does with it (request_trace.h).
#include <cstdio>
#include <cstring>
#include <exception>
#include <systemc>

#include "request_trace.h"

// SystemC's library has main().
int sc_main(int arguments, char* argument[]) {
  if (arguments < 3) {
    std::fprintf(stderr,
                 "usage: dram_trace STANDARD.json sequential|random|strided|writes|mixed "
                 "[--refresh|--drain|--print]\n");
    return 2;
  }
  try {
    const bool refreshes = arguments > 3 && std::strcmp(argument[3], "--refresh") == 0;
    weft::dram::Standard standard = weft::dram::standard_of(argument[1], refreshes);
    if (arguments > 3 && std::strcmp(argument[3], "--drain") == 0)
      standard.scheduler.write_drain = weft::dram::write_drain_of_the_comparison();
    const auto trace = weft::dram::trace_of(standard, argument[2], 20'000);
    if (arguments > 3 && std::strcmp(argument[3], "--print") == 0) {
      for (const weft::dram::TracedRequest& request : trace)
        std::printf("%c %u %u %u %llu %u\n", request.write ? 'W' : 'R', request.pseudo_channel, request.group,
                    request.bank, static_cast<unsigned long long>(request.row), request.column);
      return 0;
    }
    const weft::dram::Replay result = weft::dram::replay(standard, trace);
    std::printf("cycles %llu, row hits %llu, misses %llu, conflicts %llu, hit share %.4f, utilisation %.4f\n",
                static_cast<unsigned long long>(result.cycles),
                static_cast<unsigned long long>(result.row_hits),
                static_cast<unsigned long long>(result.row_misses),
                static_cast<unsigned long long>(result.row_conflicts), result.hit_share, result.utilisation);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dram_trace: %s\n", error.what());
    return 2;
  }
  return 0;
}
