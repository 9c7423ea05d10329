#include "vcd/timeline_writer.h"

#include <cstddef>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <stdexcept>

#include "vcd/perfetto_schema.h"
#include "weft/common/error.h"

namespace weft::vcd {

using protozero::pbf_writer;

namespace clock_snapshot = perfetto::clock_snapshot;
namespace counter_descriptor = perfetto::counter_descriptor;
namespace debug_annotation = perfetto::debug_annotation;
namespace interned_data = perfetto::interned_data;
namespace trace = perfetto::trace;
namespace trace_packet = perfetto::trace_packet;
namespace trace_packet_defaults = perfetto::trace_packet_defaults;
namespace track_descriptor = perfetto::track_descriptor;
namespace track_event = perfetto::track_event;

namespace {

constexpr std::uint32_t kSequence = 1;
// Times of this clock are differences to the event before, in bytes mostly one.
constexpr std::uint32_t kDifferences = clock_snapshot::kFirstOwn;
// What these take at most, without texts: an event, and the last one of a slice; what is said at the end.
constexpr std::uint64_t kEventBytes = 200, kEndBytes = 60, kLastWordsBytes = 500;

// How many of these bytes are whole packets.
std::size_t whole_packets(std::string_view bytes) {
  std::size_t whole = 0;
  while (whole < bytes.size()) {
    const char* data = bytes.data() + whole + 1;  // behind the tag of Trace.packet
    const char* const end = bytes.data() + bytes.size();
    std::uint64_t length = 0;
    try {
      length = protozero::decode_varint(&data, end);
    } catch (const protozero::exception&) {
      return whole;
    }
    if (length > static_cast<std::uint64_t>(end - data)) return whole;
    whole = static_cast<std::size_t>(data - bytes.data()) + static_cast<std::size_t>(length);
  }
  return whole;
}

}  // namespace

// A packet with an event, until the end of the scope.
class TimelineWriter::Event {
 public:
  Event(TimelineWriter& writer, std::uint64_t time, Track track, std::int32_t type)
      : writer_(writer), trace_(writer.file_.text()), packet_(trace_, trace::kPacket) {
    if (time >= writer.last_) {
      packet_.add_uint64(trace_packet::kTimestamp, time - writer.last_);
      writer.last_ = time;
    } else {
      packet_.add_uint64(trace_packet::kTimestamp, time);
      packet_.add_uint32(trace_packet::kTimestampClockId, clock_snapshot::kBoottime);
    }
    packet_.add_uint32(trace_packet::kTrustedPacketSequenceId, kSequence);
    packet_.add_uint32(trace_packet::kSequenceFlags, trace_packet::kNeedsIncrementalState);
    event_ = pbf_writer(packet_, trace_packet::kTrackEvent);
    event_.add_enum(track_event::kType, type);
    event_.add_uint64(track_event::kTrackUuid, track);
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    event_.commit();
    packet_.commit();
    writer_.grown();
  }
  pbf_writer& fields() { return event_; }
  void add(Arguments arguments) {
    for (const Argument& argument : arguments) {
      pbf_writer annotation(event_, track_event::kDebugAnnotations);
      annotation.add_uint64(debug_annotation::kNameIid, argument.key);
      if (!argument.text.empty()) {
        annotation.add_string(debug_annotation::kStringValue, argument.text.data(), argument.text.size());
      } else {
        annotation.add_uint64(debug_annotation::kUintValue, argument.number);
      }
    }
  }
  void describe(Name name, Category category, const Details& details) {
    event_.add_uint64(track_event::kCategoryIids, category);
    event_.add_uint64(track_event::kNameIid, name);
    if (details.place != 0) event_.add_uint64(track_event::kSourceLocationIid, details.place);
    if (details.arrow_from != 0) event_.add_fixed64(track_event::kFlowIds, details.arrow_from);
    if (details.arrow_to != 0) event_.add_fixed64(track_event::kTerminatingFlowIds, details.arrow_to);
  }

 private:
  TimelineWriter& writer_;
  pbf_writer trace_, packet_, event_;
};

TimelineWriter::TimelineWriter(std::string path, std::uint64_t most_bytes)
    : file_(std::move(path), whole_packets),
      most_bytes_(most_bytes),
      names_{interned_data::kEventNames},
      categories_{interned_data::kEventCategories},
      keys_{interned_data::kDebugAnnotationNames},
      places_{interned_data::kSourceLocations} {
  pbf_writer trace(file_.text());
  {
    pbf_writer packet(trace, trace::kPacket);
    packet.add_uint32(trace_packet::kTrustedPacketSequenceId, kSequence);
    packet.add_uint32(trace_packet::kSequenceFlags, trace_packet::kIncrementalStateCleared);
    pbf_writer defaults(packet, trace_packet::kTracePacketDefaults);
    defaults.add_uint32(trace_packet_defaults::kTimestampClockId, kDifferences);
  }
  {
    pbf_writer packet(trace, trace::kPacket);
    packet.add_uint32(trace_packet::kTrustedPacketSequenceId, kSequence);
    pbf_writer snapshot(packet, trace_packet::kClockSnapshot);
    for (const std::uint32_t clock : {clock_snapshot::kBoottime, kDifferences}) {
      pbf_writer reading(snapshot, clock_snapshot::kClocks);
      reading.add_uint32(clock_snapshot::kClockId, clock);
      reading.add_uint64(clock_snapshot::kTimestamp, 0);
      if (clock == kDifferences) reading.add_bool(clock_snapshot::kIsIncremental, true);
    }
  }
  {
    // The root of all tracks, which orders those below it.
    pbf_writer packet(trace, trace::kPacket);
    packet.add_uint32(trace_packet::kTrustedPacketSequenceId, kSequence);
    pbf_writer descriptor(packet, trace_packet::kTrackDescriptor);
    descriptor.add_uint64(track_descriptor::kUuid, 0);
    descriptor.add_enum(track_descriptor::kChildOrdering, track_descriptor::kExplicit);
  }
  file_.flush();
  if (!file_.error().empty()) throw InputError("", file_.error());
}

TimelineWriter::~TimelineWriter() {
  close(last_);
}

TimelineWriter::Track TimelineWriter::add(std::string name, std::string unit, bool counts, Track parent) {
  const auto track = static_cast<Track>(tracks_.size());
  TrackState state;
  state.name = std::move(name);
  state.unit = std::move(unit);
  state.parent = parent;
  state.counts = counts;
  state.rank = track;
  tracks_.push_back(std::move(state));
  return track;
}

TimelineWriter::Track TimelineWriter::group(std::string name, Track parent) {
  return add(std::move(name), "", false, parent);
}

TimelineWriter::Track TimelineWriter::track(std::string name, Track parent) {
  return add(std::move(name), "", false, parent);
}

TimelineWriter::Track TimelineWriter::counter(std::string name, std::string unit, Track parent) {
  return add(std::move(name), std::move(unit), true, parent);
}

std::uint32_t TimelineWriter::interned(Interned& index, const Text& text) {
  const auto id = static_cast<std::uint32_t>(index.ids.size() + 1);
  const auto [place, is_new] = index.ids.emplace(text, id);
  if (!is_new || !has_room(text.first.size() + kEventBytes)) return place->second;
  {
    pbf_writer trace(file_.text());
    pbf_writer packet(trace, trace::kPacket);
    packet.add_uint32(trace_packet::kTrustedPacketSequenceId, kSequence);
    packet.add_uint32(trace_packet::kSequenceFlags, trace_packet::kNeedsIncrementalState);
    pbf_writer data(packet, trace_packet::kInternedData);
    pbf_writer entry(data, index.field);
    entry.add_uint64(interned_data::kIid, id);
    entry.add_string(interned_data::kName, text.first);
    if (text.second != 0) entry.add_uint32(interned_data::kLineNumber, text.second);
  }
  grown();
  return id;
}

void TimelineWriter::write_track(Track track) {
  TrackState& state = tracks_[track];
  if (state.written || !has_room(kEventBytes + state.name.size() + state.unit.size())) return;
  state.written = true;
  if (state.parent != 0) write_track(state.parent);
  if (!open()) return;
  {
    pbf_writer trace(file_.text());
    pbf_writer packet(trace, trace::kPacket);
    packet.add_uint32(trace_packet::kTrustedPacketSequenceId, kSequence);
    pbf_writer descriptor(packet, trace_packet::kTrackDescriptor);
    descriptor.add_uint64(track_descriptor::kUuid, track);
    descriptor.add_string(track_descriptor::kName, state.name);
    if (state.parent != 0) descriptor.add_uint64(track_descriptor::kParentUuid, state.parent);
    descriptor.add_enum(track_descriptor::kChildOrdering, track_descriptor::kExplicit);
    descriptor.add_int32(track_descriptor::kSiblingOrderRank, static_cast<std::int32_t>(state.rank));
    if (state.counts) {
      pbf_writer counter(descriptor, track_descriptor::kCounter);
      counter.add_string(counter_descriptor::kUnitName, state.unit);
    }
  }
  grown();
}

// Beside the ends of all slices. If not, they end here.
bool TimelineWriter::has_room(std::uint64_t bytes) {
  if (!open()) return false;
  // What is said at the end takes its own room.
  if (full_ || file_.bytes() + bytes + (open_slices_ + 1) * kEndBytes + kLastWordsBytes <= most_bytes_)
    return true;
  full_ = true;
  end_everything(last_);
  const Name why = name("the timeline has reached its size");
  const Category end = category("timeline");
  const Track own = track("end of the timeline");
  write_track(own);
  {
    Event event(*this, last_, own, track_event::kInstant);
    event.describe(why, end, Details());
  }
  file_.close();
  closed_ = true;
  return false;
}

bool TimelineWriter::takes_event(Track track, std::uint64_t text_bytes) {
  if (!has_room(kEventBytes + text_bytes)) return false;
  if (!tracks_[track].written) write_track(track);
  return open();
}

void TimelineWriter::begin(std::uint64_t time, Track track, Name name, Category category,
                           const Details& details, Arguments arguments) {
  std::uint64_t texts = 0;
  for (const Argument& argument : arguments) texts += argument.text.size();
  if (!takes_event(track, texts)) return;
  ++tracks_[track].open;
  ++open_slices_;
  Event event(*this, time, track, track_event::kSliceBegin);
  event.describe(name, category, details);
  event.add(arguments);
}

void TimelineWriter::end(std::uint64_t time, Track track, Arguments arguments) {
  if (tracks_[track].open == 0 || !open()) return;
  --tracks_[track].open;
  --open_slices_;
  Event event(*this, time, track, track_event::kSliceEnd);
  event.add(arguments);
}

void TimelineWriter::instant(std::uint64_t time, Track track, Name name, Category category,
                             const Details& details) {
  if (!takes_event(track)) return;
  Event event(*this, time, track, track_event::kInstant);
  event.describe(name, category, details);
}

void TimelineWriter::count(std::uint64_t time, Track counter, std::uint64_t value) {
  if (!takes_event(counter)) return;
  Event event(*this, time, counter, track_event::kCounter);
  event.fields().add_int64(track_event::kCounterValue, static_cast<std::int64_t>(value));
}

void TimelineWriter::end_everything(std::uint64_t time) {
  for (Track track = 1; track < tracks_.size(); ++track) {
    while (tracks_[track].open != 0 && file_.open()) end(time, track);
  }
}

void TimelineWriter::close(std::uint64_t time) {
  if (closed_) return;
  if (file_.open()) end_everything(time);
  file_.close();
  closed_ = true;
}

}  // namespace weft::vcd
