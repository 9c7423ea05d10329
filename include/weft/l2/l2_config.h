// Configuration of a bank of the L2 cache.
#ifndef WEFT_L2_L2_CONFIG_H
#define WEFT_L2_L2_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/cache/cache_config.h"

namespace weft::l2 {

using cache::WriteMiss;

struct Config {
  cache::TagConfig tags;
  std::uint64_t sector_bytes = 0;  // 0: whole lines
  cache::MshrConfig mshrs{256, 4};
  std::uint64_t latency = 120;
  std::uint64_t bytes_per_cycle = 0;  // looked up; 0: a line or sector, whatever its size
  std::uint64_t input_queue = 8;
  std::uint64_t miss_queue = 8;
  std::uint64_t response_queue = 8;
  std::uint64_t write_back_buffers = 8;
  std::uint64_t atomic_interval = 1;
  WriteMiss write_miss = WriteMiss::kFetch;
  std::uint64_t partitions = 1;   // parts of the chip; requests between two of them are far
  std::uint64_t far_latency = 0;  // cycles that a far request takes more
  bool host_copies_fill = false;  // what the host copies to the device is in the L2 afterwards

  void describe(config::Visitor& v);
  void check(const std::string& where) const;
  // What is fetched and written back: a sector, or a whole line.
  std::uint64_t unit_bytes() const { return cache::bytes_of_sector(tags.line_bytes, sector_bytes); }
  std::uint64_t most_write_backs() const { return cache::most_write_backs(tags.line_bytes, sector_bytes); }
};

}  // namespace weft::l2

#endif
