#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "workloads/host.h"

namespace weft::workloads::ray_tracing {
namespace {

constexpr std::uint32_t kBlockX = 16, kBlockY = 8, kMaxSpheres = 64;
constexpr float kNear = 0.001f;

struct Vector {
  float x, y, z;
};
Vector operator+(Vector a, Vector b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
Vector operator-(Vector a, Vector b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
Vector operator*(float s, Vector a) {
  return {s * a.x, s * a.y, s * a.z};
}
float dot(Vector a, Vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
Vector normalised(Vector a) {
  return 1.0f / std::sqrt(dot(a, a)) * a;
}

struct Sphere {
  Vector centre;
  float radius;
  Vector colour;
  float mirror;
};
struct Surface {
  float distance;
  Vector point, normal, colour;
  float mirror;
};

// The scene on the CPU. All operations are those of IEEE 754 and come in the kernel's order (which is
// compiled without contraction), so that the pictures are the same bits.
class Scene {
 public:
  Scene(std::uint32_t spheres, std::uint32_t seed) {
    Random random(seed);
    const auto unit = [&] { return static_cast<float>(random.next() % 1000) / 1000.0f; };
    for (std::uint32_t i = 0; i < spheres; ++i) {
      Sphere sphere{};
      sphere.radius = 0.4f + 0.8f * unit();
      const float x = 8.0f * unit() - 4.0f, z = 7.0f * unit() - 2.0f;
      sphere.centre = {x, sphere.radius + 2.0f * unit(), z};
      const float red = unit(), green = unit(), blue = unit();
      sphere.colour = {red, green, blue};
      sphere.mirror = 0.2f + 0.7f * unit();
      spheres_.push_back(sphere);
    }
  }
  const std::vector<Sphere>& spheres() const { return spheres_; }
  Vector light() const { return {5.0f, 8.0f, -6.0f}; }

  std::uint32_t pixel(std::uint32_t x, std::uint32_t y, std::uint32_t width, std::uint32_t height,
                      std::uint32_t turns) const {
    const float w = static_cast<float>(width), h = static_cast<float>(height), scale = 2.0f / h;
    Vector from{0.0f, 2.0f, -8.0f}, sum{0, 0, 0};
    Vector direction = normalised({(static_cast<float>(x) - 0.5f * w) * scale,
                                   (0.5f * h - static_cast<float>(y)) * scale - 0.25f, 1.5f});
    float weight = 1.0f;
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
      const auto surface = meet(from, direction);
      if (!surface) {
        const float up = std::max(direction.y, 0.0f);
        return colour_of(sum + weight * Vector{0.5f - 0.3f * up, 0.6f - 0.2f * up, 0.8f});
      }
      sum = sum + weight * (1.0f - surface->mirror) * light_at(*surface) * surface->colour;
      weight *= surface->mirror;
      if (weight < 0.02f) break;
      direction = direction + -2.0f * dot(direction, surface->normal) * surface->normal;
      from = surface->point;
    }
    return colour_of(sum);
  }

 private:
  static float entry(const Sphere& sphere, Vector from, Vector direction) {
    const Vector to = sphere.centre - from;
    const float b = dot(to, direction), square = b * b - (dot(to, to) - sphere.radius * sphere.radius);
    return square <= 0.0f ? 0.0f : b - std::sqrt(square);
  }
  std::optional<Surface> meet(Vector from, Vector direction) const {
    float nearest = 1.0e6f;
    const Sphere* hit = nullptr;
    for (const Sphere& sphere : spheres_) {
      const float t = entry(sphere, from, direction);
      if (t > kNear && t < nearest) nearest = t, hit = &sphere;
    }
    if (direction.y < -kNear) {
      const float t = -from.y / direction.y;
      if (t > kNear && t < nearest) {
        const Vector point = from + t * direction;
        const int field = static_cast<int>(std::floor(point.x)) + static_cast<int>(std::floor(point.z));
        const float shade = field % 2 != 0 ? 0.9f : 0.1f;
        return Surface{t, point, {0, 1, 0}, {shade, shade, shade}, 0.3f};
      }
    }
    if (hit == nullptr) return std::nullopt;
    const Vector point = from + nearest * direction;
    return Surface{nearest, point, normalised(point - hit->centre), hit->colour, hit->mirror};
  }
  float light_at(const Surface& surface) const {
    const Vector beam = light() - surface.point;
    const float distance = std::sqrt(dot(beam, beam));
    const Vector to_light{beam.x / distance, beam.y / distance, beam.z / distance};
    const float facing = dot(surface.normal, to_light);
    const bool dark =
        facing <= 0.0f || std::any_of(spheres_.begin(), spheres_.end(), [&](const Sphere& sphere) {
          const float t = entry(sphere, surface.point, to_light);
          return t > kNear && t < distance;
        });
    return dark ? 0.2f : 0.2f + 0.8f * facing;
  }
  static std::uint32_t colour_of(Vector sum) {
    const auto byte = [](float value) {
      return static_cast<std::uint32_t>(static_cast<int>(std::min(value, 1.0f) * 255.0f));
    };
    return byte(sum.x) | byte(sum.y) << 8 | byte(sum.z) << 16 | 0xff000000u;
  }

  std::vector<Sphere> spheres_;
};

class RayTracing : public Workload {
 public:
  std::string name() const override { return "ray_tracing"; }
  std::string summary() const override {
    return "mirroring spheres, one pixel a thread: loops and branches that depend on the ray";
  }
  std::vector<Option> options() const override {
    return {{"width", 1, 8192, 1, "pixels"},
            {"height", 1, 8192, 1, "pixels"},
            {"spheres", 1, kMaxSpheres, 1, "in the scene"},
            {"turns", 1, 20, 1, "surfaces that a ray meets, at most"},
            {"seed", 0, UINT32_MAX, 1, "of the scene"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t side, std::uint64_t spheres) {
      return Size{{"width", side}, {"height", side}, {"spheres", spheres}, {"turns", 5}, {"seed", 12345}};
    };
    return {{"small", size(48, 8)},   {"default", size(256, 12)}, {"large", size(1024, 24)},
            {"crown", size(256, 12)}, {"harp", size(256, 12)},    {"stsimt", size(256, 12)}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"crown", {"sm.registers_per_thread=40"}},
            {"harp", {"sm.registers_per_thread=40"}},
            {"stsimt", {"sm.registers_per_thread=48"}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return sizeof(std::uint32_t) * values.at("width") * values.at("height");
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const auto value = [&](const char* option) { return static_cast<std::uint32_t>(values.at(option)); };
    const std::uint32_t width = value("width"), height = value("height"), turns = value("turns");
    const Scene scene(value("spheres"), value("seed"));
    std::vector<std::array<float, 4>> places, materials;
    for (const Sphere& sphere : scene.spheres()) {
      places.push_back({sphere.centre.x, sphere.centre.y, sphere.centre.z, sphere.radius});
      materials.push_back({sphere.colour.x, sphere.colour.y, sphere.colour.z, sphere.mirror});
    }
    auto& module = device.load_module(code.ptx, code.file);
    const std::size_t bytes = places.size() * sizeof places[0];
    device.copy_to(device.symbol(module, "places"), places.data(), bytes);
    device.copy_to(device.symbol(module, "materials"), materials.data(), bytes);
    const DeviceArray<std::uint32_t> image(device, std::size_t{width} * height);
    device.launch(module, kernel_of(module, code),
                  {blocks_for(width, kBlockX), blocks_for(height, kBlockY), 1}, {kBlockX, kBlockY, 1},
                  runtime::Arguments()
                      .add(static_cast<std::int32_t>(width))
                      .add(static_cast<std::int32_t>(height))
                      .add(value("spheres"))
                      .add(turns)
                      .add(scene.light())
                      .add(image.address()));
    device.synchronise();
    std::vector<std::uint32_t> want;
    want.reserve(std::size_t{width} * height);
    for (std::uint32_t y = 0; y < height; ++y) {
      for (std::uint32_t x = 0; x < width; ++x) want.push_back(scene.pixel(x, y, width, height, turns));
    }
    return compare_equal("pixels", image.read(), want);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<RayTracing>();
}

}  // namespace weft::workloads::ray_tracing
