// Configuration of what caches are made of: tags and MSHRs.
#ifndef WEFT_CACHE_CACHE_CONFIG_H
#define WEFT_CACHE_CACHE_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/cache/replacement.h"
#include "weft/cache/set_index.h"
#include "weft/common/config_visitor.h"

namespace weft::cache {

// Sets and ways, of any number.
struct TagConfig {
  std::uint64_t sets = 64;
  std::uint64_t ways = 8;
  std::uint64_t line_bytes = 128;
  PartChoice<Replacement> replacement{"lru"};
  PartChoice<SetIndex> set_index{"modulo"};

  // The keys of the two parts.
  void describe_parts(config::Visitor& v);
  void describe(config::Visitor& v);
  // Throws InputError if line_bytes is no power of two, the set index does not suit, the capacity is above
  // 1 GiB, or there are more lines than this.
  void check(const std::string& where, std::uint64_t most_lines = 1u << 20) const;
  std::uint64_t bytes() const { return sets * ways * line_bytes; }
};

// What a store does that finds its sector absent: it fetches the sector, unless it writes all of it; it takes
// a place without a fetch; it takes none; or it takes a place, the cache remembers which bytes it wrote, and
// a load fetches the sector unless all of its bytes have been written.
enum class WriteMiss : std::uint8_t { kFetch, kNoFetch, kAround, kLazyFetch };

// Most bytes of a sector whose written bytes are remembered (kLazyFetch).
inline constexpr std::uint64_t kMostMaskedBytes = 64;

// Lines whose parts are fetched, valid and dirty by themselves. `sector_bytes` = 0: the line is one part.
constexpr std::uint64_t bytes_of_sector(std::uint64_t line_bytes, std::uint64_t sector_bytes) {
  return sector_bytes == 0 ? line_bytes : sector_bytes;
}
// Of one line: if every other sector is dirty.
constexpr std::uint64_t most_write_backs(std::uint64_t line_bytes, std::uint64_t sector_bytes) {
  return (line_bytes / bytes_of_sector(line_bytes, sector_bytes) + 1) / 2;
}
// Throws InputError unless sector_bytes is 0, or a power of two from 1/32 of the line to all of it.
void check_sectors(const std::string& where, std::uint64_t line_bytes, std::uint64_t sector_bytes);

// Miss status holding registers; an entry holds up to `merges` waiters, the first included.
struct MshrConfig {
  std::uint64_t entries = 64;
  std::uint64_t merges = 8;

  // `where`_entries and `where`_merges are the keys. Throws InputError for more requests than this.
  void check(const std::string& where, std::uint64_t most_waiting = 1u << 20) const;
};

}  // namespace weft::cache

#endif
