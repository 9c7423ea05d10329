// Configuration of what caches are made of: tags and MSHRs.
#ifndef WEFT_CACHE_CACHE_CONFIG_H
#define WEFT_CACHE_CACHE_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"

namespace weft::cache {

enum class Replacement : std::uint8_t { kLru, kFifo };
// The key `replacement` of a cache.
void describe_replacement(config::Visitor& v, Replacement& replacement);

// Which set a line goes to. kFermi, for 32 or 64 sets of 128-byte lines: the address bits from 7 on, of which
// five are combined by exclusive or with bits 13, 14, 15, 17 and 19, as measured on that generation (Nugteren
// et al., HPCA 2014). Lines at distances that are powers of two then lie in different sets.
enum class SetIndex : std::uint8_t { kModulo, kFermi };

// Sets and ways, of any number.
struct TagConfig {
  std::uint64_t sets = 64;
  std::uint64_t ways = 8;
  std::uint64_t line_bytes = 128;
  Replacement replacement = Replacement::kLru;
  SetIndex set_index = SetIndex::kModulo;

  void describe(config::Visitor& v);
  // Throws InputError if line_bytes is no power of two, the capacity is above 1 GiB, or there are more than
  // 2^20 lines.
  void check(const std::string& where) const;
  std::uint64_t bytes() const { return sets * ways * line_bytes; }
};

// Miss status holding registers; an entry holds up to `merges` waiters, the first included.
struct MshrConfig {
  std::uint64_t entries = 64;
  std::uint64_t merges = 8;

  // `where`_entries and `where`_merges are the keys. Throws InputError for more than 2^20 requests.
  void check(const std::string& where) const;
};

}  // namespace weft::cache

#endif
