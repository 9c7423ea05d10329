#include "request_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "common/config_document.h"
#include "common/config_reader.h"
#include "dram/bank_scheduler.h"
#include "weft/common/error.h"
#include "weft/common/statistics.h"

namespace weft::dram {
namespace {

constexpr unsigned kColumns = 32;  // bursts of a row
constexpr std::size_t kMostWaiting = 64;

struct Shape {
  unsigned pseudo_channels, groups, banks;  // banks of a group
  explicit Shape(const Standard& standard)
      : pseudo_channels(static_cast<unsigned>(standard.scheduler.pseudo_channels)),
        groups(static_cast<unsigned>(standard.scheduler.bank_groups)),
        banks(static_cast<unsigned>(standard.map.banks) / pseudo_channels / groups) {}
};

TracedRequest at(const Shape& shape, std::uint64_t burst) {
  TracedRequest request;
  const auto take = [&](unsigned count) {
    const auto part = static_cast<unsigned>(burst % count);
    burst /= count;
    return part;
  };
  request.pseudo_channel = take(shape.pseudo_channels);
  request.group = take(shape.groups);
  request.column = take(kColumns);
  request.bank = take(shape.banks);
  request.row = burst;
  return request;
}

}  // namespace

Standard standard_of(const std::string& path, bool refreshes) {
  Standard standard;
  config::load(standard, config::read_file(path), path);
  standard.scheduler.timing.devices = 1;
  if (!refreshes) standard.scheduler.timing.refi = 0;
  return standard;
}

std::vector<std::string> pattern_names() {
  return {"sequential", "random", "strided", "writes", "mixed"};
}

std::vector<TracedRequest> trace_of(const Standard& standard, const std::string& pattern,
                                    std::size_t requests) {
  const Shape shape(standard);
  std::vector<TracedRequest> trace;
  trace.reserve(requests);
  std::mt19937_64 random(1);
  for (std::uint64_t i = 0; i < requests; ++i) {
    if (pattern == "sequential") {
      trace.push_back(at(shape, i));
    } else if (pattern == "random") {
      trace.push_back(at(shape, random() >> 40));
    } else if (pattern == "strided" || pattern == "writes" || pattern == "mixed") {
      trace.push_back(at(shape, (i % 4 << 20) + i / 4 * 5));
      trace.back().write = pattern == "writes" || (pattern == "mixed" && i % 4 == 3);
    } else {
      throw InputError("pattern",
                       "found " + pattern + "; allowed: sequential, random, strided, writes, mixed");
    }
  }
  return trace;
}

Replay replay(const Standard& standard, const std::vector<TracedRequest>& trace) {
  const Shape shape(standard);
  BankScheduler scheduler(standard.scheduler, static_cast<unsigned>(standard.map.banks), 1);
  statistics::Group tree;
  scheduler.bind(tree);
  std::size_t next = 0, done = 0;
  BankScheduler::Edge now = 0, last = 0;
  for (; done < trace.size(); ++now) {
    if (next < trace.size() && !scheduler.full(trace[next].write) && scheduler.queued() < kMostWaiting) {
      const TracedRequest& traced = trace[next++];
      BankRequest request;
      request.bank =
          (traced.bank * shape.groups + traced.group) * shape.pseudo_channels + traced.pseudo_channel;
      request.row = traced.row;
      request.first_burst = traced.column;
      request.write = traced.write;
      scheduler.push(request, now);
    }
    BankScheduler::Finished finished;
    std::uint32_t started = 0;
    if (!scheduler.step(now, finished, started)) continue;
    ++done;
    last = std::max(last, finished.done);
  }
  const auto statistics = tree.sample();
  Replay result;
  result.cycles = last;
  result.row_hits = statistics["row_hits"];
  result.row_misses = statistics["row_misses"];
  result.row_conflicts = statistics["row_conflicts"];
  result.hit_share = static_cast<double>(result.row_hits) / static_cast<double>(trace.size());
  result.utilisation = statistics["data_cycles"].get<double>() / static_cast<double>(last);
  return result;
}

}  // namespace weft::dram
