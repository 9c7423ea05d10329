#include <algorithm>
#include <cstdlib>

#include "workloads/host.h"

namespace weft::workloads::visibility {
namespace {

constexpr std::uint32_t kBlock = 256;
constexpr std::int32_t kEye = 2;  // above the ground

struct Place {
  std::int32_t x, y;
};

struct Map {
  std::int32_t columns, rows;
  std::vector<std::uint8_t> heights;
  std::uint8_t at(Place place) const { return heights[place.y * columns + place.x]; }
};

// Flat ground with bumps, and buildings: one for every 100 fields, 1 to 6 fields along each side, with a lane
// free.
Map random_map(std::int32_t columns, std::int32_t rows, Random& random) {
  Map map{columns, rows, std::vector<std::uint8_t>(columns * rows)};
  for (std::uint8_t& height : map.heights) height = random.next() % 16 == 0 ? 1 : 0;
  const auto below = [&](std::int32_t limit) { return static_cast<std::int32_t>(random.next()) % limit; };
  for (std::int32_t building = 0; building < columns * rows / 100; ++building) {
    const std::int32_t x0 = below(columns), y0 = below(rows), width = 1 + below(6), depth = 1 + below(6);
    const auto height = static_cast<std::uint8_t>(3 + below(8));
    for (std::int32_t y = y0; y < std::min(y0 + depth, rows); ++y) {
      for (std::int32_t x = x0; x < std::min(x0 + width, columns); ++x) map.heights[y * columns + x] = height;
    }
  }
  return map;
}

// The fields strictly between two places, by Bresenham's rule for all directions.
std::vector<Place> between(Place from, Place to) {
  const std::int32_t across = std::abs(to.x - from.x), down = std::abs(to.y - from.y);
  std::vector<Place> line;
  std::int32_t error = across - down;
  while (true) {
    const std::int32_t twice = 2 * error;
    if (twice > -down) error -= down, from.x += to.x < from.x ? -1 : 1;
    if (twice < across) error += across, from.y += to.y < from.y ? -1 : 1;
    if (from.x == to.x && from.y == to.y) return line;
    line.push_back(from);
  }
}

bool sees(const Map& map, Place from, Place to, std::int32_t range) {
  const std::int32_t steps = std::max(std::abs(to.x - from.x), std::abs(to.y - from.y));
  if (steps > range) return false;
  if (steps < 2) return true;
  const std::int32_t low = map.at(from) + kEye, high = map.at(to) + kEye;
  std::int32_t step = 0;
  for (const Place place : between(from, to)) {
    ++step;
    if ((map.at(place) - low) * steps >= (high - low) * step) return false;
  }
  return true;
}

class Visibility : public Workload {
 public:
  std::string name() const override { return "visibility"; }
  std::string summary() const override {
    return "lines of sight on a game's map: loops that end anywhere, scattered bytes, few threads";
  }
  std::vector<Option> options() const override {
    return {{"columns", 2, 1024, 1, "fields of the map"},
            {"rows", 2, 1024, 1, "fields of the map"},
            {"watchers", 1, 4096, 1, "on the map"},
            {"range", 1, 1024, 1, "how far they see, in fields"},
            {"seed", 0, UINT32_MAX, 1, "of map and watchers"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t columns, std::uint64_t rows, std::uint64_t watchers) {
      return Size{
          {"columns", columns}, {"rows", rows}, {"watchers", watchers}, {"range", 40}, {"seed", 12345}};
    };
    return {{"small", size(24, 16, 12)},
            {"default", size(96, 64, 100)},
            {"large", size(512, 512, 200)},
            {"stsimt", size(96, 64, 100)}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const auto value = [&](const char* option) { return static_cast<std::int32_t>(values.at(option)); };
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    const Map map = random_map(value("columns"), value("rows"), random);
    const std::int32_t fields = map.columns * map.rows, range = value("range");
    std::vector<Place> watchers;
    for (std::int32_t i = 0; i < value("watchers"); ++i) {
      const auto x = static_cast<std::int32_t>(random.next()) % map.columns;
      watchers.push_back({x, static_cast<std::int32_t>(random.next()) % map.rows});
    }
    auto& module = device.load_module(code.ptx, code.file);
    const DeviceArray<std::uint8_t> heights(device, map.heights);
    const DeviceArray<Place> device_watchers(device, watchers);
    const DeviceArray<std::int32_t> seen_by(device, std::vector<std::int32_t>(fields, -1));
    device.launch(module, kernel_of(module, code), {blocks_for(fields, kBlock), 1, 1}, {kBlock, 1, 1},
                  runtime::Arguments()
                      .add(heights.address())
                      .add(map.columns)
                      .add(fields)
                      .add(device_watchers.address())
                      .add(static_cast<std::int32_t>(watchers.size()))
                      .add(kEye)
                      .add(range)
                      .add(seen_by.address()));
    device.synchronise();
    std::vector<std::int32_t> want(fields, 0);
    for (std::int32_t field = 0; field < fields; ++field) {
      for (const Place watcher : watchers) {
        want[field] += sees(map, {field % map.columns, field / map.columns}, watcher, range) ? 1 : 0;
      }
    }
    return compare_equal("fields' watchers", seen_by.read(), want);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<Visibility>();
}

}  // namespace weft::workloads::visibility
