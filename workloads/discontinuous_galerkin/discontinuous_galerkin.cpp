#include <algorithm>
#include <array>
#include <cmath>

#include "workloads/discontinuous_galerkin/elements.h"
#include "workloads/host.h"
#include "workloads/texture.h"

namespace weft::workloads::discontinuous_galerkin {
namespace {

using galerkin::kFaceNodes;
using galerkin::kNodes;

// As in discontinuous_galerkin.cu.
constexpr std::size_t kPitch = 96, kFields = 6, kStages = 5;
constexpr std::uint32_t kStepThreads = 256;

// Carpenter and Kennedy, NASA TM 109112 (1994): five stages, fourth order, one extra copy.
constexpr std::array<double, kStages> kA{
    0.0, -567301805773.0 / 1357537059087.0, -2404267990393.0 / 2016746695238.0,
    -3550918686646.0 / 2091501179385.0, -1275806237668.0 / 842570457699.0};
constexpr std::array<double, kStages> kB{
    1432997174477.0 / 9575080441755.0, 5161836677717.0 / 13612068292357.0, 1720146321549.0 / 2090206949498.0,
    3134564353537.0 / 4481467310338.0, 2277821191437.0 / 14882151754819.0};

struct Float4 {
  float x, y, z, w;
};
struct Int2 {
  std::int32_t x, y;
};

// What the kernels read, in their layout.
struct Problem {
  std::size_t elements = 0;
  float step = 0;
  std::vector<Float4> derivatives, geometry, normals;
  std::vector<float> lift, fields;
  std::vector<Int2> nodes;
};

std::int32_t index_of(std::size_t element_node) {
  return static_cast<std::int32_t>(element_node / kNodes * kFields * kPitch + element_node % kNodes);
}

Problem make_problem(std::size_t elements) {
  const auto operators = galerkin::make_operators();
  const auto mesh = galerkin::make_mesh(operators, elements);
  Problem problem;
  problem.elements = elements;
  const auto real = [](double value) { return static_cast<float>(value); };
  for (std::size_t from = 0; from < kNodes; ++from) {
    for (std::size_t to = 0; to < kNodes; ++to) {
      const auto along = [&](std::size_t axis) {
        return real(operators.derivative[axis][to * kNodes + from]);
      };
      problem.derivatives.push_back({along(0), along(1), along(2), 0});
    }
  }
  for (std::size_t from = 0; from < kFaceNodes; ++from) {
    for (std::size_t to = 0; to < kNodes; ++to) {
      problem.lift.push_back(real(operators.lift[to * kFaceNodes + from]));
    }
  }
  problem.fields.assign(elements * kFields * kPitch, 0);
  double greatest = 0;
  for (std::size_t e = 0; e < elements; ++e) {
    for (const auto& g : mesh[e].gradient)
      problem.geometry.push_back({real(g[0]), real(g[1]), real(g[2]), 0});
    for (const auto& node : mesh[e].face) {
      greatest = std::max(greatest, node.scale);
      problem.normals.push_back({real(node.normal[0]), real(node.normal[1]), real(node.normal[2]),
                                 real(node.boundary ? -node.scale / 2 : node.scale / 2)});
      problem.nodes.push_back({index_of(node.own), index_of(node.other)});
    }
    for (std::size_t n = 0; n < kNodes; ++n) {  // a standing wave
      const auto& at = mesh[e].position[n];
      const double pi = std::acos(-1.0);
      problem.fields[(e * kFields + 5) * kPitch + n] =
          real(std::sin(pi * at[0]) * std::sin(pi * at[1] / 0.88));
    }
  }
  // Half of what the size of the elements and the square of the order allow.
  problem.step = real(0.5 / (greatest * (galerkin::kOrder + 1) * (galerkin::kOrder + 1)));
  return problem;
}

// The kernels' operations in their order.
class Reference {
 public:
  explicit Reference(const Problem& problem)
      : problem_(problem),
        fields_(problem.fields),
        residual_(fields_.size(), 0),
        change_(fields_.size(), 0) {}

  const std::vector<float>& run(std::size_t stages) {
    for (std::size_t stage = 0; stage < stages; ++stage) {
      for (std::size_t element = 0; element < problem_.elements; ++element) volume(element);
      for (std::size_t element = 0; element < problem_.elements; ++element) surface(element);
      const auto a = static_cast<float>(kA[stage % kStages]), b = static_cast<float>(kB[stage % kStages]);
      for (std::size_t i = 0; i < fields_.size(); ++i) {
        residual_[i] = std::fma(a, residual_[i], problem_.step * change_[i]);
        fields_[i] = std::fma(b, residual_[i], fields_[i]);
      }
    }
    return fields_;
  }

 private:
  static float dot(const Float4& a, float x, float y, float z) {
    return std::fma(a.z, z, std::fma(a.y, y, a.x * x));
  }
  // (a b)_third of a cross product: a1 b1 - a2 b2, the second product rounded.
  static float minor(float a1, float b1, float a2, float b2) { return std::fma(a1, b1, -(a2 * b2)); }

  void volume(std::size_t element) {
    const float* const q = &fields_[element * kFields * kPitch];
    float* const out = &change_[element * kFields * kPitch];
    for (std::size_t n = 0; n < kNodes; ++n) {
      std::array<std::array<float, 3>, kFields> d{};  // along r, s, t; then along x, y, z
      for (std::size_t from = 0; from < kNodes; ++from) {
        const Float4& weight = problem_.derivatives[from * kNodes + n];
        for (std::size_t f = 0; f < kFields; ++f) {
          const float value = q[f * kPitch + from];
          d[f][0] = std::fma(weight.x, value, d[f][0]);
          d[f][1] = std::fma(weight.y, value, d[f][1]);
          d[f][2] = std::fma(weight.z, value, d[f][2]);
        }
      }
      const Float4 *g = &problem_.geometry[3 * element], &r = g[0], &s = g[1], &t = g[2];
      for (auto& field : d) {
        field = {dot({r.x, s.x, t.x, 0}, field[0], field[1], field[2]),
                 dot({r.y, s.y, t.y, 0}, field[0], field[1], field[2]),
                 dot({r.z, s.z, t.z, 0}, field[0], field[1], field[2])};
      }
      for (std::size_t axis = 0; axis < 3; ++axis) {  // curls
        const std::size_t next = (axis + 1) % 3, last = (axis + 2) % 3;
        out[axis * kPitch + n] = d[3 + next][last] - d[3 + last][next];
        out[(3 + axis) * kPitch + n] = d[last][next] - d[next][last];
      }
    }
  }

  void surface(std::size_t element) {
    std::array<std::array<float, kFaceNodes>, kFields> flux{};
    for (std::size_t i = 0; i < kFaceNodes; ++i) {
      const Float4& normal = problem_.normals[element * kFaceNodes + i];
      const Int2& node = problem_.nodes[element * kFaceNodes + i];
      const std::array<float, 3> n{normal.x, normal.y, normal.z};
      std::array<float, kFields> jump{};
      for (std::size_t f = 0; f < kFields; ++f) {
        const float here = fields_[static_cast<std::size_t>(node.x) + f * kPitch];
        const float beyond = fields_[static_cast<std::size_t>(node.y) + f * kPitch];
        const float sign = f >= 3 && normal.w < 0 ? -1.0f : 1.0f;
        jump[f] = std::abs(normal.w) * (sign * beyond - here);
      }
      const float h = dot(normal, jump[0], jump[1], jump[2]), e = dot(normal, jump[3], jump[4], jump[5]);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t next = (axis + 1) % 3, last = (axis + 2) % 3;
        flux[axis][i] =
            std::fma(-h, n[axis], jump[axis]) + minor(n[last], jump[3 + next], n[next], jump[3 + last]);
        flux[3 + axis][i] =
            std::fma(-e, n[axis], jump[3 + axis]) + minor(n[next], jump[last], n[last], jump[next]);
      }
    }
    for (std::size_t n = 0; n < kNodes; ++n) {
      for (std::size_t f = 0; f < kFields; ++f) {
        float sum = 0;
        for (std::size_t from = 0; from < kFaceNodes; ++from) {
          sum = std::fma(problem_.lift[from * kNodes + n], flux[f][from], sum);
        }
        change_[(element * kFields + f) * kPitch + n] += sum;
      }
    }
  }

  const Problem& problem_;
  std::vector<float> fields_, residual_, change_;
};

class DiscontinuousGalerkin : public Workload {
 public:
  std::string name() const override { return "discontinuous_galerkin"; }
  std::string summary() const override {
    return "Maxwell's equations on tetrahedra: textures, shared memory, blocks that are no multiple of a "
           "warp";
  }
  std::vector<Option> options() const override {
    return {{"elements", 1, 4096, 1, "tetrahedra"},
            {"stages", 1, 1000, 1, "of the Runge-Kutta method; 5 are a step"}};
  }
  std::map<std::string, Size> sizes() const override {
    return {{"small", {{"elements", 8}, {"stages", 2}}},
            {"default", {{"elements", 48}, {"stages", 5}}},
            {"large", {{"elements", 1000}, {"stages", 10}}},
            {"stsimt", {{"elements", 268}, {"stages", 5}}}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    const Problem problem = make_problem(values.at("elements"));
    const std::size_t stages = values.at("stages");
    auto& module = device.load_module(code.ptx, code.file);
    const texture::Format one{texture::ChannelKind::kFloat, 32, 1}, four{texture::ChannelKind::kFloat, 32, 4};
    const LinearTexture<Float4> derivatives(device, four, problem.derivatives),
        geometry(device, four, problem.geometry), normals(device, four, problem.normals);
    const LinearTexture<float> lift(device, one, problem.lift);
    const std::vector<float> zeros(problem.fields.size(), 0);
    const DeviceArray<float> fields(device, problem.fields), residual(device, zeros), change(device, zeros);
    const DeviceArray<Int2> nodes(device, problem.nodes);
    texture::Texture fields_texture;
    fields_texture.image = texture::linear_image(one, static_cast<std::uint32_t>(zeros.size()));
    fields_texture.image.address = fields.address();
    const runtime::Object fields_object = runtime::create_texture(device, fields_texture);

    const auto elements = static_cast<std::uint32_t>(problem.elements);
    for (std::size_t stage = 0; stage < stages; ++stage) {
      device.launch(module, "dg_volume", {elements, 1, 1}, {kNodes, 1, 1},
                    runtime::Arguments()
                        .add(derivatives.object())
                        .add(geometry.object())
                        .add(fields.address())
                        .add(change.address()));
      device.launch(module, "dg_surface", {elements, 1, 1}, {kFaceNodes, 1, 1},
                    runtime::Arguments()
                        .add(lift.object())
                        .add(normals.object())
                        .add(fields_object)
                        .add(nodes.address())
                        .add(change.address()));
      device.launch(module, "dg_step", {blocks_for(zeros.size(), kStepThreads), 1, 1}, {kStepThreads, 1, 1},
                    runtime::Arguments()
                        .add(fields.address())
                        .add(residual.address())
                        .add(change.address())
                        .add(static_cast<float>(kA[stage % kStages]))
                        .add(static_cast<float>(kB[stage % kStages]))
                        .add(problem.step)
                        .add(static_cast<std::int32_t>(zeros.size())));
    }
    device.synchronise();
    const std::vector<float> got = fields.read();
    runtime::destroy_object(device, fields_object);
    return compare_equal("fields", got, Reference(problem).run(stages));
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<DiscontinuousGalerkin>();
}

}  // namespace weft::workloads::discontinuous_galerkin
