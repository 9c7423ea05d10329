#include "vcd/timeline_reader.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace weft::test {
namespace {

// A message in protobuf's text format.
struct Message {
  std::vector<std::pair<std::string, std::string>> values{};
  std::vector<std::pair<std::string, Message>> messages{};

  std::string value(const std::string& name, const std::string& otherwise = "0") const {
    for (const auto& [known, text] : values) {
      if (known == name) return text;
    }
    return otherwise;
  }
  std::uint64_t number(const std::string& name) const { return std::stoull(value(name)); }
  const Message* message(const std::string& name) const {
    for (const auto& [known, of] : messages) {
      if (known == name) return &of;
    }
    return nullptr;
  }
};

std::string decoded(const std::string& path) {
  const std::string command = std::string(WEFT_PROTOC) + " --decode=perfetto.protos.Trace -I " +
                              WEFT_TIMELINE_MESSAGES + " " + WEFT_TIMELINE_MESSAGES +
                              "/timeline_messages.proto < " + path;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("protoc cannot be run");
  std::string text;
  std::array<char, 65536> piece;
  for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), pipe)) != 0;)
    text.append(piece.data(), n);
  if (::pclose(pipe) != 0) throw std::runtime_error(path + ": protoc cannot decode it");
  return text;
}

std::string unquoted(const std::string& text) {
  if (text.empty() || text.front() != '"') return text;
  std::string plain;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\') ++i;
    plain += text[i];
  }
  return plain;
}

void parse(std::istringstream& lines, Message& into) {
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    line.erase(0, begin);
    if (line == "}") return;
    if (std::isdigit(static_cast<unsigned char>(line[0])) != 0)
      throw std::runtime_error("a field that the schema has not: " + line);
    if (line.back() == '{') {
      into.messages.emplace_back(line.substr(0, line.size() - 2), Message());
      parse(lines, into.messages.back().second);
    } else {
      const std::size_t colon = line.find(": ");
      into.values.emplace_back(line.substr(0, colon), unquoted(line.substr(colon + 2)));
    }
  }
}

}  // namespace

TimelineFile::TimelineFile(const std::string& path) {
  std::istringstream lines(decoded(path));
  Message trace;
  parse(lines, trace);

  std::map<std::string, std::map<std::uint64_t, Message>> interned;
  std::map<std::uint64_t, std::string> names;
  std::map<std::uint64_t, std::vector<std::size_t>> open;
  std::uint64_t now = 0;
  const auto text_of = [&](const char* kind, std::uint64_t id) {
    return interned.at(kind).at(id).value("name", "");
  };
  for (const auto& [kind, packet] : trace.messages) {
    if (packet.number("trusted_packet_sequence_id") != 1) throw std::runtime_error("a packet of no sequence");
    if (const Message* data = packet.message("interned_data")) {
      for (const auto& [of, entry] : data->messages) interned[of][entry.number("iid")] = entry;
    }
    if (const Message* track = packet.message("track_descriptor")) {
      const std::uint64_t id = track->number("uuid"), parent = track->number("parent_uuid");
      if (id == 0) continue;
      names[id] = (parent == 0 ? "" : names.at(parent) + "/") + track->value("name", "");
      tracks.push_back(names[id]);
    }
    const Message* const event = packet.message("track_event");
    if (event == nullptr) continue;
    // Times of the sequence's own clock are differences.
    const std::uint64_t stamp = packet.number("timestamp");
    const std::uint64_t time = packet.value("timestamp_clock_id") == "6" ? stamp : (now += stamp);
    const std::uint64_t id = event->number("track_uuid");
    const std::string track = names.at(id), type = event->value("type");
    std::map<std::string, std::string> arguments;
    for (const auto& [of, annotation] : event->messages) {
      arguments[text_of("debug_annotation_names", annotation.number("name_iid"))] =
          annotation.value("uint_value", annotation.value("string_value"));
    }
    if (type == "TYPE_SLICE_BEGIN") {
      Slice slice{track, text_of("event_names", event->number("name_iid")),
                  text_of("event_categories", event->number("category_iids")), time};
      slice.depth = static_cast<unsigned>(open[id].size());
      slice.arguments = std::move(arguments);
      slice.arrow = event->value("flow_ids", "");
      slice.arrow_end = event->value("terminating_flow_ids", "");
      if (const std::uint64_t place = event->number("source_location_iid")) {
        slice.file = interned.at("source_locations").at(place).value("file_name");
        slice.line = static_cast<unsigned>(interned.at("source_locations").at(place).number("line_number"));
      }
      open[id].push_back(slices.size());
      slices.push_back(std::move(slice));
    } else if (type == "TYPE_SLICE_END") {
      if (open[id].empty()) throw std::runtime_error("an end without a slice on " + track);
      Slice& slice = slices[open[id].back()];
      open[id].pop_back();
      slice.end = time;
      slice.arguments.insert(arguments.begin(), arguments.end());
      if (time < slice.begin) throw std::runtime_error("a slice that ends before it begins on " + track);
    } else if (type == "TYPE_INSTANT") {
      instants.push_back({track, text_of("event_names", event->number("name_iid")), time,
                          event->value("terminating_flow_ids", ""), event->value("flow_ids", "")});
    } else {
      counters[track].emplace_back(time, event->number("counter_value"));
    }
  }
  for (const auto& [id, slices_of] : open) {
    if (!slices_of.empty()) throw std::runtime_error("a slice that does not end on " + names.at(id));
  }
}

std::uint64_t TimelineFile::last(const std::string& counter) const {
  const auto found = counters.find(counter);
  return found == counters.end() ? 0 : found->second.back().second;
}

std::map<std::string, std::uint64_t> TimelineFile::lengths(const std::string& track) const {
  std::map<std::string, std::uint64_t> sums;
  for (const Slice& slice : slices) {
    if (slice.track == track) sums[slice.name] += slice.length();
  }
  return sums;
}

}  // namespace weft::test
