#include <algorithm>
#include <cmath>
#include <cstdio>

#include "workloads/host.h"

namespace weft::workloads::nearest_neighbor {
namespace {

constexpr std::size_t kLine = 49;  // as in nearest_neighbor.cu
constexpr float kHereLatitude = 30.0f, kHereLongitude = 90.0f;

struct Place {
  std::int32_t latitude, longitude;  // tenths of a degree
};

// "2004 09 15 06 IVAN       45  -12.3 123.4 ...": date, name, place, wind.
std::string line_of(const Place& place, Random& random) {
  char text[kLine + 32];
  const auto field = [](std::int32_t tenths, char* to) {  // five characters
    const std::int32_t size = tenths < 0 ? -tenths : tenths;
    std::snprintf(to, 16, "%s%02d.%d", tenths < 0 ? "-" : size < 1000 ? " " : "", size / 10, size % 10);
  };
  char latitude[16], longitude[16];
  field(place.latitude, latitude);
  field(place.longitude, longitude);
  std::snprintf(text, sizeof text, "%04u %02u %02u %02u storm%05u    %s %s %3u           ",
                1950 + random.next() % 60, 1 + random.next() % 12, 1 + random.next() % 28, random.next() % 24,
                random.next() % 100000, latitude, longitude, 10 + random.next() % 150);
  return std::string(text, kLine);
}

class NearestNeighbor : public Workload {
 public:
  std::string name() const override { return "nearest_neighbor"; }
  std::string summary() const override {
    return "distances of records from a place: bytes of text read by small blocks, or coalesced pairs";
  }
  std::vector<Option> options() const override {
    return {{"records", 1, 1u << 24, 1, "to look through"},
            {"batch", 1, 1u << 24, 1, "records of a launch"},
            {"text", 0, 1, 1, "1: records are lines of text; 0: pairs of floats"},
            {"block", 1, 512, 1, "threads of a block"},
            {"reread", 0, 1, 1, "of text, 1: a character is read from memory at each use; 0: once"},
            {"seed", 0, UINT32_MAX, 1, "of the records"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t records, std::uint64_t batch, std::uint64_t text,
                         std::uint64_t block) {
      return Size{{"records", records}, {"batch", batch}, {"text", text},
                  {"block", block},     {"reread", 0},    {"seed", 12345}};
    };
    const Size lines = size(60'000, 15'000, 1, 16);
    return {{"small", size(2'000, 1'500, 1, 16)},
            {"default", lines},
            {"large", size(4'000'000, 4'000'000, 0, 256)},
            {"dwr", lines},
            {"crown", lines},
            {"stsimt", size(42'764, 42'764, 0, 256)}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"stsimt", {"sm.registers_per_thread=20"}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return values.at("records") * (sizeof(float) + (values.at("text") == 1 ? kLine : 2 * sizeof(float)));
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    const auto value = [&](const char* option) { return static_cast<std::uint32_t>(values.at(option)); };
    const std::uint32_t records = value("records"), batch = value("batch"), block = value("block");
    const bool text = value("text") == 1;
    const char* kernel = !text                  ? "distances_of_pairs"
                         : value("reread") == 1 ? "distances_of_lines_reread"
                                                : "distances_of_lines";
    Random random(device, value("seed"));
    std::vector<char> lines;
    std::vector<float> pairs, want;
    for (std::uint32_t i = 0; i < records; ++i) {
      const Place place{static_cast<std::int32_t>(random.next() % 1800) - 900,
                        static_cast<std::int32_t>(random.next() % 2799) - 999};
      const float latitude = static_cast<float>(place.latitude) / 10.0f;
      const float longitude = static_cast<float>(place.longitude) / 10.0f;
      if (text) {
        const std::string line = line_of(place, random);
        lines.insert(lines.end(), line.begin(), line.end());
      } else {
        pairs.insert(pairs.end(), {latitude, longitude});
      }
      const float down = latitude - kHereLatitude, across = longitude - kHereLongitude;
      want.push_back(std::sqrt(down * down + across * across));
    }

    auto& module = device.load_module(code.ptx, code.file);
    const DeviceArray<char> device_lines(device, lines.empty() ? std::vector<char>(1) : lines);
    const DeviceArray<float> device_pairs(device, pairs.empty() ? std::vector<float>(1) : pairs);
    const DeviceArray<float> distances(device, std::vector<float>(records, -1.0f));
    for (std::uint32_t first = 0; first < records; first += batch) {
      const std::uint32_t here = std::min(batch, records - first);
      const runtime::Address from = text ? device_lines.address() + std::uint64_t{first} * kLine
                                         : device_pairs.address() + std::uint64_t{first} * 2 * sizeof(float);
      device.launch(module, kernel, {blocks_for(here, block), 1, 1}, {block, 1, 1},
                    runtime::Arguments()
                        .add(from)
                        .add(kHereLatitude)
                        .add(kHereLongitude)
                        .add(distances.address() + std::uint64_t{first} * sizeof(float))
                        .add(static_cast<std::int32_t>(here)));
    }
    device.synchronise();
    const std::vector<float> got = distances.read();
    Result result = compare_equal("distances", got, want);
    const auto nearest = std::min_element(got.begin(), got.end()) - got.begin();
    if (result.verified) result.message += "; nearest: record " + std::to_string(nearest);
    return result;
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<NearestNeighbor>();
}

}  // namespace weft::workloads::nearest_neighbor
