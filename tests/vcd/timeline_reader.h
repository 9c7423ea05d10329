// A timeline as it stands in its file, read by protoc with messages of the public schema.
#ifndef WEFT_TESTS_VCD_TIMELINE_READER_H
#define WEFT_TESTS_VCD_TIMELINE_READER_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::test {

struct TimelineFile {
  struct Slice {
    std::string track, name, category;  // a track with its parents: "sm0/warp slots/warp slot 3"
    std::uint64_t begin = 0, end = 0;
    unsigned depth = 0;  // slices of the track around it
    std::map<std::string, std::string> arguments{};
    std::string file{};  // of its place; empty: it has none
    unsigned line = 0;
    std::string arrow{}, arrow_end{};  // that begins here, and that ends here
    std::uint64_t length() const { return end - begin; }
    bool is_in(const std::string& group) const { return track.rfind(group, 0) == 0; }
    std::uint64_t number(const std::string& argument) const { return std::stoull(arguments.at(argument)); }
  };
  struct Instant {
    std::string track, name;
    std::uint64_t time = 0;
    std::string arrow{}, arrow_begin{};  // that ends here, and that begins here
  };
  using Values = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // time, value

  // Throws std::runtime_error, which says what is wrong with the file.
  explicit TimelineFile(const std::string& path);

  std::vector<Slice> slices;  // as they begin in the file
  std::vector<Instant> instants;
  std::map<std::string, Values> counters;
  std::vector<std::string> tracks;

  // Of the counter; 0 if it never had another value.
  std::uint64_t last(const std::string& counter) const;
  // Of the slices of a track by name.
  std::map<std::string, std::uint64_t> lengths(const std::string& track) const;
};

}  // namespace weft::test

#endif
