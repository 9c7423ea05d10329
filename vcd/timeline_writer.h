// Writes a timeline: tracks with slices, counters and arrows, as a Perfetto trace (a sequence of protobuf
// messages; perfetto_schema.h has the numbers).
//
//   TimelineWriter timeline("run.perfetto-trace", 100'000'000);
//   const auto sm = timeline.group("sm0");
//   const auto slot = timeline.track("warp slot 0", sm);
//   const auto add = timeline.name("add.u32");
//   timeline.begin(100, slot, add, timeline.category("issue"));
//   timeline.end(101, slot);
//   timeline.close(200);
//
// Times are core cycles, and nanoseconds to viewers. An event may be written after one that is later, which
// costs a few bytes, but a track's own events come in order. Once names are interned and tracks are made
// nothing is allocated. Tracks that get no event are not in the file.
#ifndef WEFT_VCD_TIMELINE_WRITER_H
#define WEFT_VCD_TIMELINE_WRITER_H

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/growing_file.h"

namespace weft::vcd {

class TimelineWriter {
 public:
  using Track = std::uint32_t;  // 0: none
  // Interned texts. 0: none.
  using Name = std::uint32_t;
  using Category = std::uint32_t;
  using Key = std::uint32_t;
  using Place = std::uint32_t;
  // What a viewer shows with a slice.
  struct Argument {
    Key key = 0;
    std::uint64_t number = 0;
    std::string_view text{};  // instead of the number, if it is not empty
  };
  struct Details {
    Place place = 0;
    std::uint64_t arrow_from = 0, arrow_to = 0;  // arrows that begin and end here, by number; 0: none
  };
  using Arguments = std::initializer_list<Argument>;

  // Creates the file, or empties it. It gets `most_bytes` at most. Throws InputError if it cannot be written.
  TimelineWriter(std::string path, std::uint64_t most_bytes);
  ~TimelineWriter();
  TimelineWriter(const TimelineWriter&) = delete;
  TimelineWriter& operator=(const TimelineWriter&) = delete;

  // Tracks stand in the order in which they were made, below their parents.
  Track group(std::string name, Track parent = 0);
  Track track(std::string name, Track parent = 0);
  Track counter(std::string name, std::string unit, Track parent = 0);

  Name name(const std::string& text) { return interned(names_, {text, 0}); }
  Category category(const std::string& text) { return interned(categories_, {text, 0}); }
  Key key(const std::string& text) { return interned(keys_, {text, 0}); }
  Place place(const std::string& file, std::uint32_t line) { return interned(places_, {file, line}); }

  // Slices of a track may stand within each other; `end` is of the one that began last.
  void begin(std::uint64_t time, Track track, Name name, Category category, const Details& details,
             Arguments arguments = {});
  void begin(std::uint64_t time, Track track, Name name, Category category) {
    begin(time, track, name, category, Details());
  }
  void end(std::uint64_t time, Track track, Arguments arguments = {});
  void instant(std::uint64_t time, Track track, Name name, Category category, const Details& details);
  void count(std::uint64_t time, Track counter, std::uint64_t value);

  // Ends all slices and closes the file. A second call does nothing.
  void close(std::uint64_t time);

  // False after close(), after an error, and where the file has reached its size: then it has ended cleanly,
  // and says so on a track of its own. An error does not throw, because the simulation should go on: the file
  // is cut back to its last complete event and closed.
  bool open() const { return file_.open() && !closed_; }
  bool is_full() const { return full_; }
  std::uint64_t last_time() const { return last_; }
  std::uint64_t bytes() const { return file_.bytes(); }
  const std::string& path() const { return file_.path(); }
  const std::string& error() const { return file_.error(); }

 private:
  using Text = std::pair<std::string, std::uint32_t>;
  struct Interned {
    std::uint32_t field = 0;  // of InternedData
    std::map<Text, std::uint32_t> ids{};
  };
  struct TrackState {
    std::string name, unit;
    Track parent = 0;
    bool counts = false, written = false;
    std::uint32_t rank = 0;
    std::uint32_t open = 0;  // slices
  };
  class Event;

  Track add(std::string name, std::string unit, bool counts, Track parent);
  std::uint32_t interned(Interned& index, const Text& text);
  void write_track(Track track);
  bool has_room(std::uint64_t bytes);
  bool takes_event(Track track, std::uint64_t text_bytes = 0);
  void end_everything(std::uint64_t time);
  void grown() { file_.grown(); }

  GrowingFile file_;
  const std::uint64_t most_bytes_;
  std::vector<TrackState> tracks_{1};
  Interned names_, categories_, keys_, places_;
  std::uint64_t last_ = 0;  // the latest time written
  std::uint64_t open_slices_ = 0;
  bool full_ = false, closed_ = false;
};

}  // namespace weft::vcd

#endif
