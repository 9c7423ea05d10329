// The bytes of system memory that a first-level cache holds (`system_cached`), beside its tags.
//
// What the GPU writes while a line is fetched goes over what is read, which may be older. A line that others
// may have changed meanwhile is void: the loads that wait for it get what was read, and it does not stay.
#ifndef WEFT_SM_SYSTEM_LINES_H
#define WEFT_SM_SYSTEM_LINES_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <tlm>
#include <vector>

#include "cache/tag_array.h"

namespace weft::sm {

class SystemLines {
 public:
  using Line = cache::Line;
  // `used`: otherwise there are none.
  SystemLines(cache::TagArray& tags, std::size_t places, bool used)
      : tags_(tags), state_(used ? places : 0, used ? places * tags.line_bytes() : 0) {}
  void reset() { state_ = State(state_.places.size(), state_.bytes.size()); }

  // The line is reserved in the tags.
  void reserve(Line line) {
    const std::size_t place = tags_.place_of(line);
    state_.places[place] = {line, false, true};
    std::fill_n(state_.written.begin() + static_cast<std::ptrdiff_t>(place * tags_.line_bytes()),
                tags_.line_bytes(), std::uint8_t{0});
  }
  void fill(Line line, const std::uint8_t* bytes) {
    const std::size_t first = tags_.place_of(line) * tags_.line_bytes();
    for (std::size_t i = 0; i < tags_.line_bytes(); ++i) {
      if (state_.written[first + i] == 0) state_.bytes[first + i] = bytes[i];
    }
  }
  const std::uint8_t* bytes(Line line) const {
    return state_.bytes.data() + tags_.place_of(line) * tags_.line_bytes();
  }
  // Of a line that is reserved.
  bool is_void(Line line) const { return state_.places[tags_.place_of(line)].is_void; }

  // Bytes from `address` on have been written.
  void update(std::uint64_t address, const tlm::tlm_generic_payload& write) {
    const std::uint64_t end = address + write.get_data_length(), line_bytes = tags_.line_bytes();
    const unsigned char* const enables = write.get_byte_enable_ptr();
    for (Line line = tags_.line_of(address); line <= tags_.line_of(end - 1); ++line) {
      if (tags_.find(line) == cache::LineState::kInvalid) continue;
      const std::size_t place = tags_.place_of(line) * line_bytes;
      const std::uint64_t first = line * line_bytes;
      for (std::uint64_t at = std::max(address, first); at < std::min(end, first + line_bytes); ++at) {
        const std::uint64_t i = at - address;
        if (enables != nullptr && enables[i % write.get_byte_enable_length()] == TLM_BYTE_DISABLED) continue;
        state_.bytes[place + (at - first)] = write.get_data_ptr()[i];
        state_.written[place + (at - first)] = 1;
      }
    }
  }
  // Others may have changed it.
  void drop(Line line) {
    const cache::LineState state = tags_.find(line);
    if (state == cache::LineState::kReserved) {
      state_.places[tags_.place_of(line)].is_void = true;
    } else if (state != cache::LineState::kInvalid) {
      tags_.invalidate(line);
    }
  }
  // ... or in any of these, both included.
  void drop(Line first, Line last) {
    if (last - first < state_.places.size()) {
      for (Line line = first; line <= last; ++line) drop(line);
      return;
    }
    for (const Place& place : state_.places) {
      if (place.used && place.line >= first && place.line <= last) drop(place.line);
    }
  }
  void drop_all() { drop(0, ~Line{0}); }

 private:
  // Of a line of system memory that was there last.
  struct Place {
    Line line = 0;
    bool is_void = false, used = false;
  };
  struct State {
    State(std::size_t lines, std::size_t all_bytes) : places(lines), bytes(all_bytes), written(all_bytes) {}
    std::vector<Place> places;
    std::vector<std::uint8_t> bytes, written;  // since the line was reserved
  };

  cache::TagArray& tags_;
  State state_;
};

}  // namespace weft::sm

#endif
