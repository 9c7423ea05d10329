#include "sm/data_cache.h"

#include <utility>

#include "execute/system_memory.h"
#include "sm/request_tag.h"

namespace weft::sm {

using cache::LineState;

DataCache::DataCache(const machine::SmConfig& config, OutgoingQueue& outgoing, SystemAccesses& system)
    : config_(config),
      outgoing_(outgoing),
      system_(system),
      level_(config.l1d),
      system_lines_(level_.tags().lines(), config.l1d.tags.sets * config.l1d.tags.ways,
                    config.l1d.enabled && config.system_cached),
      writes_back_(config.l1d.enabled && config.l1d.write_policy == machine::WritePolicy::kBack),
      flushes_(writes_back_ && !config.l1d.kept),
      allocates_(config.l1d.enabled && config.l1d.write_miss != cache::WriteMiss::kAround),
      fetches_lazily_(config.l1d.enabled && config.l1d.fetches_lazily()),
      looks_up_last_(config.l1d.enabled && config.l1d.lookup == machine::Lookup::kLast &&
                     config.l1d.latency > 1) {}

void DataCache::reset() {
  level_.reset();
  system_lines_.reset();
}

void DataCache::start_kernel(std::size_t ways) {
  level_.tags().set_ways(ways);
  level_.start_kernel();
  system_lines_.drop_all();
}

bool DataCache::read_past(Request& request, std::uint64_t tag) {
  const Sector sector = level_.tags().sector_of(request.block);
  const bool dirty = is_dirty(sector);
  OutgoingRequest read{tlm::TLM_READ_COMMAND,
                       AccessKind::kRead,
                       0,
                       static_cast<std::uint32_t>(config_.coalescer.block_bytes),
                       request.block,
                       tag};
  if (request.system == kNone) read.instruction = request.instruction;
  const bool joins = !dirty && outgoing_.joins(read);
  if (!joins && outgoing_.room() < (dirty ? 2 : 1)) return false;
  if (dirty) write_back(sector);
  if (request.system != kNone) {  // no more than the bytes touched, from the first to the last
    read.address += request.low;
    read.bytes = request.high - request.low;
    read.access = std::exchange(request.system, kNone);
    system_.started(read.access);
    drop_system_lines(read.address, read.address + (read.bytes - 1));
  }
  outgoing_.read(read);
  return true;
}

bool DataCache::write(Request& request, bool waits, std::uint64_t tag) {
  if (fetches_lazily_ && request.target == Target::kWrite && request.system == kNone) {
    const cache::SectorTags::Found found = level_.tags().look_up(level_.tags().sector_of(request.block));
    if (found.state == LineState::kInvalid) {
      if (!store_bytes(request, found)) return false;
      if (!writes_back_) send_write(request, waits, tag);
      return true;
    }
    if (found.state == LineState::kReserved && !writes_back_) mark_written(found.sector);
  }
  if (absorb(request)) return true;
  const Sector sector = level_.tags().sector_of(request.block);
  const bool dirty = is_dirty(sector);  // an atomic: it is done behind the cache
  const bool takes_place = allocates(request);
  if (takes_place ? !allocate(request) : outgoing_.room() < (dirty ? 2 : 1)) return false;
  if (takes_place && writes_back_) return true;
  if (dirty) write_back(sector);
  if (request.system != kNone) {
    system_.started(request.system);
  } else if (!takes_place && config_.l1d.enabled && has_bytes(sector)) {
    if (request.target == Target::kWrite) ++store_hits_;
    if (request.target == Target::kAtomic || config_.l1d.write_hit == machine::WriteHit::kInvalidate) {
      level_.tags().invalidate(sector);
    } else {
      level_.tags().access(sector);
      mark_written(sector);
    }
  }
  send_write(request, waits, tag);
  return true;
}

void DataCache::send_write(Request& request, bool waits, std::uint64_t tag) {
  const bool atomic = request.target == Target::kAtomic;
  const std::uint32_t bytes = request.high - request.low;
  outgoing_.write({tlm::TLM_WRITE_COMMAND, atomic ? AccessKind::kAtomic : AccessKind::kWrite,
                   atomic ? request.lanes : std::uint16_t{0}, bytes, request.block + request.low, tag,
                   std::exchange(request.system, kNone), std::exchange(request.carried, kNone)},
                  waits);
}

// The bytes of a store go to a sector that is not there as a whole, whose line takes a place if it has none.
// False: it has to wait, for a place or for room to send what leaves the SM. A sector that has bytes is hit.
bool DataCache::store_bytes(const Request& request, const cache::SectorTags::Found& found) {
  const bool hits = !is_absent(found);
  const FirstLevel::Probe probe = hits ? FirstLevel::Probe() : level_.probe(found.sector, found.sector);
  if (!hits && !probe.has_way) return false;
  if (outgoing_.room() < probe.write_backs + (writes_back_ ? 0 : 1)) return false;
  level_.tags().access({found.sector, found.place, hits ? LineState::kValid : LineState::kInvalid});
  ++(!hits ? stores_allocated_ : writes_back_ ? stores_absorbed_ : store_hits_);
  const std::uint64_t bytes = request.written << request.block % level_.tags().sector_bytes();
  write_back(level_.tags().write(found.sector, bytes, writes_back_));
  mark_written(found.sector);
  return true;
}

// The store takes a place, and fetches what it does not write. False: it has to wait. Written through, its
// own request needs room, too.
bool DataCache::allocate(const Request& request) {
  const Sector sector = level_.tags().sector_of(request.block);
  const bool fetch = fetches(request);
  const FirstLevel::Probe found = level_.probe(sector, sector);
  const std::size_t sent = found.write_backs + (fetch ? 1 : 0) + (writes_back_ ? 0 : 1);
  if (!found.has_way || (fetch && !found.has_entry) || outgoing_.room() < sent) return false;
  ++stores_allocated_;
  write_back(fetch ? level_.take(found, kNone) : level_.place(found));
  mark_written(sector);
  if (writes_back_) {
    if (fetch) {
      level_.tags().mark_dirty_on_fill(sector);
    } else {
      level_.tags().mark_dirty(sector);
    }
  }
  if (!fetch) return true;
  const std::uint64_t bytes = level_.tags().sector_bytes();
  outgoing_.read({tlm::TLM_READ_COMMAND, AccessKind::kRead, 0, static_cast<std::uint32_t>(bytes),
                  sector * bytes, tag_of(TagKind::kL1d, sector)});
  return true;
}

// Written back: a store to a sector that is there or on its way stays in the cache. Not to system memory,
// which others watch.
bool DataCache::absorb(const Request& request) {
  if (!writes_back_ || request.target != Target::kWrite || request.system != kNone) return false;
  const Sector sector = level_.tags().sector_of(request.block);
  switch (level_.tags().find(sector)) {
    case LineState::kInvalid:
      return false;
    case LineState::kReserved:
      level_.tags().mark_dirty_on_fill(sector);
      break;
    default:
      level_.tags().mark_dirty(sector);
  }
  level_.tags().access(sector);
  mark_written(sector);
  ++stores_absorbed_;
  return true;
}

void DataCache::write_back(const cache::SectorTags::Victim& victim) {
  if (victim.dirty == 0) return;
  cache::for_each_run(victim.dirty,
                      [&](unsigned first, unsigned sectors) { write_back(victim.first + first, sectors); });
}

void DataCache::write_back(Sector first, unsigned sectors) {
  const std::uint64_t address = first * level_.tags().sector_bytes();
  const std::uint64_t bytes = sectors * level_.tags().sector_bytes();
  outgoing_.write_back({tlm::TLM_WRITE_COMMAND, AccessKind::kWrite, 0, static_cast<std::uint32_t>(bytes),
                        address, tag_of(TagKind::kWrite, 0), OutgoingRequest::kDeviceMemory,
                        outgoing_.copy(address, bytes)});
}

void DataCache::give_bytes(const Request& request) {
  const cache::Line line = level_.tags().sector_of(request.block);  // lines are whole (SmConfig::check)
  system_.fill(request.system,
               system_lines_.bytes(line) + (request.block - line * config_.l1d.tags.line_bytes));
}

void DataCache::update_system_lines(std::uint64_t address, const tlm::tlm_generic_payload& write) {
  if (!config_.system_cached || !config_.l1d.enabled) return;
  system_lines_.update(address + execute::kSystemSpace, write);
}

void DataCache::drop_system_lines(std::uint64_t first, std::uint64_t last) {
  if (!config_.system_cached || !config_.l1d.enabled) return;
  system_lines_.drop(level_.tags().sector_of(first), level_.tags().sector_of(last));
}

void DataCache::bind(statistics::Group& group) {
  group.counter("store_hits", units::kRequests,
                "stores written through that found their line and update or invalidate the line",
                store_hits_);
  group.counter("stores_absorbed", units::kRequests,
                "stores that made a sector of the data cache dirty instead", stores_absorbed_);
  group.counter("stores_allocated", units::kRequests, "stores that missed and took a place in the data cache",
                stores_allocated_);
  if (fetches_lazily_) {
    group.counter("lazy_fetches", units::kRequests,
                  "fetches of a sector of which stores had written a part before", lazy_fetches_);
  }
  level_.bind(group.group("l1d"), true);
}

}  // namespace weft::sm
