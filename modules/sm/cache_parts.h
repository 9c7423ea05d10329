// The parts of modules/cache that a first-level cache of an SM's configuration needs.
#ifndef WEFT_SM_CACHE_PARTS_H
#define WEFT_SM_CACHE_PARTS_H

#include "cache/mshr_table.h"
#include "cache/tag_array.h"
#include "weft/sm/sm_config.h"

namespace weft::sm {

inline cache::TagConfig tag_config(const CacheConfig& config) {
  cache::TagConfig tags;
  tags.sets = config.sets;
  tags.ways = config.ways;
  tags.line_bytes = config.line_bytes;
  tags.set_index = config.set_index;
  return tags;
}

inline cache::MshrConfig mshr_config(const CacheConfig& config) {
  cache::MshrConfig mshrs;
  mshrs.entries = config.mshr_entries;
  mshrs.merges = config.mshr_merges;
  return mshrs;
}

}  // namespace weft::sm

#endif
