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
      system_lines_(level_.tags(), config.l1d.tags.sets * config.l1d.tags.ways,
                    config.l1d.enabled && config.system_cached),
      writes_back_(config.l1d.enabled && config.l1d.write_policy == machine::WritePolicy::kBack),
      flushes_(writes_back_ && !config.l1d.kept),
      looks_up_last_(config.l1d.enabled && config.l1d.lookup == machine::Lookup::kLast &&
                     config.l1d.latency > 1) {}

void DataCache::reset() {
  level_.reset();
  system_lines_.reset();
}

void DataCache::start_kernel() {
  level_.start_kernel();
  system_lines_.drop_all();
}

bool DataCache::read_past(Request& request, std::uint64_t tag) {
  const Line line = level_.tags().line_of(request.block);
  const bool dirty = is_dirty(line);
  if (outgoing_.room() < (dirty ? 2 : 1)) return false;
  if (dirty) write_back(line);
  OutgoingRequest read{tlm::TLM_READ_COMMAND,
                       AccessKind::kRead,
                       0,
                       static_cast<std::uint32_t>(config_.coalescer.block_bytes),
                       request.block,
                       tag};
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
  if (absorb(request)) return true;
  const Line line = level_.tags().line_of(request.block);
  const bool dirty = is_dirty(line);  // an atomic: it is done behind the cache
  if (outgoing_.room() < (dirty ? 2 : 1)) return false;
  if (dirty) write_back(line);
  if (request.system != kNone) {
    system_.started(request.system);
  } else if (config_.l1d.enabled && level_.tags().find(line) == LineState::kValid) {
    if (request.target == Target::kWrite) ++store_hits_;
    if (request.target == Target::kAtomic || config_.l1d.write_hit == machine::WriteHit::kInvalidate) {
      level_.tags().invalidate(line);
    } else {
      level_.tags().access(line);
    }
  }
  const bool atomic = request.target == Target::kAtomic;
  const std::uint32_t bytes = request.high - request.low;
  outgoing_.write({tlm::TLM_WRITE_COMMAND, atomic ? AccessKind::kAtomic : AccessKind::kWrite,
                   atomic ? request.lanes : std::uint16_t{0}, bytes, request.block + request.low, tag,
                   std::exchange(request.system, kNone), std::exchange(request.carried, kNone)},
                  waits);
  return true;
}

// Written back: a store to a line that is there or on its way stays in the cache. Not to system memory, which
// others watch.
bool DataCache::absorb(const Request& request) {
  if (!writes_back_ || request.target != Target::kWrite || request.system != kNone) return false;
  const Line line = level_.tags().line_of(request.block);
  switch (level_.tags().find(line)) {
    case LineState::kInvalid:
      return false;
    case LineState::kReserved:
      level_.tags().mark_dirty_on_fill(line);
      break;
    default:
      level_.tags().mark_dirty(line);
  }
  level_.tags().access(line);
  ++stores_absorbed_;
  return true;
}

void DataCache::write_back(Line line) {
  level_.tags().clean(line);
  const std::uint64_t bytes = config_.l1d.tags.line_bytes;
  outgoing_.write_back({tlm::TLM_WRITE_COMMAND, AccessKind::kWrite, 0, static_cast<std::uint32_t>(bytes),
                        line * bytes, tag_of(TagKind::kWrite, 0), OutgoingRequest::kDeviceMemory,
                        outgoing_.copy(line * bytes, bytes)});
}

void DataCache::give_bytes(const Request& request) {
  const Line line = level_.tags().line_of(request.block);
  system_.fill(request.system,
               system_lines_.bytes(line) + (request.block - line * config_.l1d.tags.line_bytes));
}

void DataCache::update_system_lines(std::uint64_t address, const tlm::tlm_generic_payload& write) {
  if (!config_.system_cached || !config_.l1d.enabled) return;
  system_lines_.update(address + execute::kSystemSpace, write);
}

void DataCache::drop_system_lines(std::uint64_t first, std::uint64_t last) {
  if (!config_.system_cached || !config_.l1d.enabled) return;
  system_lines_.drop(level_.tags().line_of(first), level_.tags().line_of(last));
}

void DataCache::bind(statistics::Group& group) {
  group.counter("store_hits", units::kRequests,
                "stores written through that found their line and update or invalidate the line",
                store_hits_);
  group.counter("stores_absorbed", units::kRequests,
                "stores that made a line of the data cache dirty instead", stores_absorbed_);
  level_.bind(group.group("l1d"), true);
}

}  // namespace weft::sm
