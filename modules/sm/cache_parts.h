// The parts of modules/cache that a first-level cache of an SM's configuration needs.
#ifndef WEFT_SM_CACHE_PARTS_H
#define WEFT_SM_CACHE_PARTS_H

#include "cache/mshr_table.h"
#include "cache/tag_array.h"
#include "sm/sm_config.h"

namespace weft::sm {

inline cache::TagArray::Config tag_config(const CacheConfig& config) {
  cache::TagArray::Config tags;
  tags.sets = config.sets;
  tags.ways = config.ways;
  tags.line_bytes = config.line_bytes;
  return tags;
}

inline cache::MshrTable::Config mshr_config(const CacheConfig& config) {
  cache::MshrTable::Config mshrs;
  mshrs.entries = config.mshr_entries;
  mshrs.merges = config.mshr_merges;
  return mshrs;
}

}  // namespace weft::sm

#endif
