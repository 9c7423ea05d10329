#include "platform/sm_columns.h"

#include <iterator>
#include <ostream>
#include <string_view>

namespace weft {

using statistics::Entry;
using statistics::Path;
using statistics::Sum;
using warp_formation::Stall;

namespace {

// The columns before the buckets, in the order of SmColumn.
constexpr const measures::Counter* kCounters[] = {&measures::kThreadInstructions,
                                                  &measures::kExecutedThreadInstructions,
                                                  &measures::kWarpInstructions,
                                                  &measures::kActiveBeats,
                                                  &measures::kActiveLanes,
                                                  &measures::kBlocks,
                                                  &measures::kThreads,
                                                  &measures::kMemoryThreads,
                                                  &measures::kDataRequests,
                                                  &measures::kWriteBytes,
                                                  &measures::kL1dAccesses,
                                                  &measures::kL1dHits,
                                                  &measures::kSharedAccesses,
                                                  &measures::kSharedConflictCycles,
                                                  &measures::kHeldCycles,
                                                  &measures::kLaneCycles,
                                                  &measures::kNoReadyCycles,
                                                  &measures::kMemoryBlockedCycles};
static_assert(std::size(kCounters) == static_cast<std::size_t>(SmColumn::kBuckets));

}  // namespace

statistics::Columns sm_columns(const std::vector<const statistics::Group*>& sms) {
  statistics::Columns columns;
  const auto add = [&](std::string name, Path path) {
    Sum sum;
    for (const statistics::Group* sm : sms) sum += sm->sum(path);
    columns.push_back({std::move(name), std::move(sum)});
  };
  for (const measures::Counter* counter : kCounters) {
    const std::string_view path = counter->path;
    Sum sum;
    for (const statistics::Group* sm : sms) sum += measures::sum_of(*sm, path.substr(path.find('.') + 1));
    columns.push_back({counter->column, std::move(sum)});
  }
  for (unsigned b = 0; b < warp_formation::kStalls; ++b) {
    const char* const bucket = bucket_name(static_cast<Stall>(b));
    add(std::string("cycles_") + bucket, {"scheduler", "cycles", bucket});
  }
  for (const char* const group : {"scalar", "lanes", "stalled"}) {
    for (const statistics::Group* of : sms.front()->groups({group})) {
      for (const auto& node : of->nodes()) {
        if (node.entry == nullptr || node.entry->kind != Entry::Kind::kCounter) continue;
        if (node.entry->quantity != statistics::Quantity::kSum) continue;
        add(group + ("_" + std::string(node.entry->name)), {group, node.entry->name});
      }
    }
  }
  for (const statistics::Group* lane : sms.front()->groups({"lane"})) {
    for (const auto& node : lane->nodes()) {
      const std::string_view name = node.entry->name;
      add(lane->name() + "_" + std::string(name), {{"lane", *lane->index()}, name});
    }
  }
  return columns;
}

std::uint64_t SmValues::scheduler_cycles() const {
  std::uint64_t sum = 0;
  for (unsigned b = 0; b < warp_formation::kStalls; ++b) sum += bucket(static_cast<Stall>(b));
  return sum;
}

measures::Run SmValues::run(std::uint64_t cycles, const Beats& beats) const {
  return {static_cast<double>(cycles), static_cast<double>(beats.lanes),
          static_cast<double>(beats.in_a_cycle), static_cast<double>(thread_places(beats))};
}

SmShares::SmShares(const statistics::Columns& columns)
    : readings_(measures::kTables,
                [&columns](const measures::Counter& counter) -> std::optional<std::size_t> {
                  for (std::size_t i = 0; i < columns.size(); ++i) {
                    if (columns[i].name == counter.column) return i;
                  }
                  return std::nullopt;
                }) {}

std::string SmShares::names() const {
  std::string names;
  for (const measures::Reading& reading : readings_.all())
    names.append(names.empty() ? "" : ",").append(reading.row().name);
  return names;
}

void SmShares::write(std::ostream& out, const SmValues& values, std::uint64_t cycles,
                     const Beats& beats) const {
  const char* comma = "";
  readings_.each([&values](std::size_t column) { return values.values_[column]; }, values.run(cycles, beats),
                 [&](const measures::Definition&, double value) {
                   out << comma << value;
                   comma = ",";
                 });
}

}  // namespace weft
