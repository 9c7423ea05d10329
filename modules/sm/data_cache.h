// The data cache of an SM: a first level, the stores that it absorbs or lets through, and the bytes of system
// memory that it holds. Whoever goes past it tells it first, since it may know better than the memory behind.
#ifndef WEFT_SM_DATA_CACHE_H
#define WEFT_SM_DATA_CACHE_H

#include <cstdint>
#include <tlm>

#include "sm/first_level.h"
#include "sm/memory_requests.h"
#include "sm/outgoing_queue.h"
#include "sm/system_accesses.h"
#include "sm/system_lines.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/machine/sm_config.h"

namespace weft::sm {

class DataCache {
 public:
  using Sector = cache::Sector;
  using Request = MemoryRequests::Request;

  DataCache(const machine::SmConfig& config, OutgoingQueue& outgoing, SystemAccesses& system);

  void reset();
  // Between two launches.
  void archive(Archive& archive) { archive(level_); }
  // It starts with none of the last kernel's lines, unless they are kept, and with none of system memory.
  // It has so many ways (sm.unified_l1).
  void start_kernel(std::size_t ways);

  FirstLevel& level() { return level_; }
  const FirstLevel& level() const { return level_; }
  SystemLines& system_lines() { return system_lines_; }
  // Loads and stores are looked up at the end of as many stages as its latency (`l1d.lookup` = `last`).
  bool looks_up_last() const { return looks_up_last_; }

  // A read, a write or an atomic goes on to the memory behind the cache; a store that is written back stays
  // here. False: there is no room in the queue, or no place for a store that takes one.
  bool read_past(Request& request, std::uint64_t tag);
  bool write(Request& request, bool waits, std::uint64_t tag);
  // A store whose sector is absent, and that takes a place in the cache.
  bool allocates(const Request& request) const {
    return allocates_ && request.target == Target::kWrite && request.system == kNone &&
           is_absent(level_.tags().look_up(level_.tags().sector_of(request.block)));
  }
  // ... and fetches what it does not write.
  bool fetches(const Request& request) const {
    return config_.l1d.write_miss == cache::WriteMiss::kFetch &&
           static_cast<std::uint64_t>(request.high - request.low) < level_.tags().sector_bytes();
  }

  // A load fetches a sector of which stores have written a part.
  void count_lazy_fetch() { ++lazy_fetches_; }

  // Preconditions: there is room in the queue. What has made room is written back; a sector stays, clean.
  void write_back(const cache::SectorTags::Victim& victim);
  void write_back(Sector sector) {
    level_.tags().clean(sector);
    write_back(sector, 1);
  }
  // Sectors are dirty that must be written back before the kernel is done.
  bool has_to_flush() const { return flushes_ && level_.tags().dirty_sectors() != 0; }
  void write_back_next() { write_back(level_.tags().next_dirty()); }

  // A load of system memory gets its bytes from its line.
  void give_bytes(const Request& request);
  // A write to system memory is done, from its `address` on: cached bytes change alike.
  void update_system_lines(std::uint64_t address, const tlm::tlm_generic_payload& write);
  // Cached bytes of system memory from `first` to `last` (+ kSystemSpace) are not valid any more.
  void drop_system_lines(std::uint64_t first, std::uint64_t last);

  void bind(statistics::Group& group);

 private:
  using Target = MemoryRequests::Target;
  static constexpr std::uint32_t kNone = MemoryRequests::kNone;

  bool absorb(const Request& request);
  bool allocate(const Request& request);
  void send_write(Request& request, bool waits, std::uint64_t tag);
  void write_back(Sector first, unsigned sectors);
  bool store_bytes(const Request& request, const cache::SectorTags::Found& found);
  bool is_dirty(Sector sector) const {
    return level_.tags().dirty_sectors() != 0 && level_.tags().is_dirty(sector);
  }
  // There, as a whole or in part, and clean.
  bool has_bytes(Sector sector) const {
    const cache::SectorTags::Found found = level_.tags().look_up(sector);
    return found.state == cache::LineState::kValid || level_.tags().written(found) != 0;
  }
  // Neither there nor under way, nor written in part.
  bool is_absent(const cache::SectorTags::Found& found) const {
    return found.state == cache::LineState::kInvalid && level_.tags().written(found) == 0;
  }
  // Stores have written to the line of this sector, which is there.
  void mark_written(Sector sector) {
    if (config_.l1d.write_ratio != 0) level_.tags().lines().mark_written(level_.tags().look_up(sector).place);
  }

  const machine::SmConfig& config_;
  OutgoingQueue& outgoing_;
  SystemAccesses& system_;
  FirstLevel level_;
  SystemLines system_lines_;
  const bool writes_back_, flushes_;  // ... at the end of a kernel
  const bool allocates_;              // stores that miss
  const bool fetches_lazily_;         // after stores that miss
  const bool looks_up_last_;
  std::uint64_t stores_absorbed_ = 0, stores_allocated_ = 0, store_hits_ = 0, lazy_fetches_ = 0;
};

}  // namespace weft::sm

#endif
