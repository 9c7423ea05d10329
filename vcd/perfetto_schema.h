// Field numbers of Perfetto's public trace schema, as far as timelines use it: messages and fields by their
// names there (package perfetto.protos; the sources are protos/perfetto/trace/*.proto).
#ifndef WEFT_VCD_PERFETTO_SCHEMA_H
#define WEFT_VCD_PERFETTO_SCHEMA_H

#include <cstdint>

namespace weft::vcd::perfetto {

using Field = std::uint32_t;

namespace trace {
inline constexpr Field kPacket = 1;
}
namespace trace_packet {
inline constexpr Field kClockSnapshot = 6;
inline constexpr Field kTimestamp = 8;
inline constexpr Field kTrustedPacketSequenceId = 10;
inline constexpr Field kTrackEvent = 11;
inline constexpr Field kInternedData = 12;
inline constexpr Field kSequenceFlags = 13;
inline constexpr Field kTimestampClockId = 58;
inline constexpr Field kTracePacketDefaults = 59;
inline constexpr Field kTrackDescriptor = 60;
// SequenceFlags
inline constexpr std::uint32_t kIncrementalStateCleared = 1, kNeedsIncrementalState = 2;
}  // namespace trace_packet
namespace trace_packet_defaults {
inline constexpr Field kTimestampClockId = 58;
}
namespace clock_snapshot {
inline constexpr Field kClocks = 1;
// Clock
inline constexpr Field kClockId = 1;
inline constexpr Field kTimestamp = 2;
inline constexpr Field kIsIncremental = 3;
// BuiltinClock; clocks from 64 on are a sequence's own.
inline constexpr std::uint32_t kBoottime = 6, kFirstOwn = 64;
}  // namespace clock_snapshot
namespace track_descriptor {
inline constexpr Field kUuid = 1;
inline constexpr Field kName = 2;
inline constexpr Field kParentUuid = 5;
inline constexpr Field kCounter = 8;
inline constexpr Field kChildOrdering = 11;
inline constexpr Field kSiblingOrderRank = 12;
// ChildTracksOrdering
inline constexpr std::int32_t kExplicit = 3;
}  // namespace track_descriptor
namespace counter_descriptor {
inline constexpr Field kUnitName = 6;
}
namespace track_event {
inline constexpr Field kCategoryIids = 3;
inline constexpr Field kDebugAnnotations = 4;
inline constexpr Field kType = 9;
inline constexpr Field kNameIid = 10;
inline constexpr Field kTrackUuid = 11;
inline constexpr Field kCounterValue = 30;
inline constexpr Field kSourceLocationIid = 34;
inline constexpr Field kFlowIds = 47;
inline constexpr Field kTerminatingFlowIds = 48;
// Type
inline constexpr std::int32_t kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4;
}  // namespace track_event
namespace debug_annotation {
inline constexpr Field kNameIid = 1;
inline constexpr Field kUintValue = 3;
inline constexpr Field kStringValue = 6;
}  // namespace debug_annotation
namespace interned_data {
inline constexpr Field kEventCategories = 1;
inline constexpr Field kEventNames = 2;
inline constexpr Field kDebugAnnotationNames = 3;
inline constexpr Field kSourceLocations = 4;
// EventCategory, EventName, DebugAnnotationName, SourceLocation
inline constexpr Field kIid = 1;
inline constexpr Field kName = 2;        // of SourceLocation: file_name
inline constexpr Field kLineNumber = 4;  // of SourceLocation
}  // namespace interned_data

}  // namespace weft::vcd::perfetto

#endif
