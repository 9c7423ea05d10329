#include <cmath>

#include "weft/common/error.h"
#include "workloads/host.h"

namespace weft::workloads::coulombic_potential {
namespace {

constexpr std::uint32_t kBlockX = 16, kBlockY = 8;
constexpr float kSpacing = 0.1f;

struct Atom {
  float x, y, z, charge;  // z: squared distance from the slice
};

std::vector<Atom> make_atoms(std::uint64_t count) {
  std::vector<Atom> atoms(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    atoms[i] = {static_cast<float>(i * 37 % 101) * 0.1f, static_cast<float>(i * 53 % 97) * 0.1f,
                1.0f + static_cast<float>(i % 5), i % 2 == 1 ? 1.0f : -0.5f};
  }
  return atoms;
}

// The potential in double precision, and how far a float computation in order may lie from it. Recursive
// summation of m terms errs by less than m u times the sum of their magnitudes (Higham, Accuracy and
// Stability of Numerical Algorithms, section 4.2; u = 2^-24). Each term adds a few u of its own: rsqrt.approx
// errs by up to 2^-22.9 (PTX ISA), twice an ulp-correct result, and its argument by 3 u. 16 terms' worth
// covers them.
struct Reference {
  double potential = 0, tolerance = 0;
};
Reference reference_at(const std::vector<Atom>& atoms, std::uint64_t x, std::uint64_t y) {
  const float at_x = static_cast<float>(x) * kSpacing, at_y = static_cast<float>(y) * kSpacing;
  double sum = 0, magnitude = 0;
  for (const Atom& atom : atoms) {
    const double dx = double{at_x} - atom.x, dy = double{at_y} - atom.y;
    const double term = atom.charge / std::sqrt(dx * dx + dy * dy + atom.z);
    sum += term;
    magnitude += std::abs(term);
  }
  return {sum, (static_cast<double>(atoms.size()) + 16) * std::ldexp(1.0, -24) * magnitude};
}

class CoulombicPotential : public Workload {
 public:
  std::string name() const override { return "coulombic_potential"; }
  std::string summary() const override {
    return "potential of point charges on a lattice: constant memory, special-function unit";
  }
  std::vector<Option> options() const override {
    return {{"w", 16, 8192, 16, "lattice points across"},
            {"h", 0, 8192, 8, "lattice points down; 0: as many as across"},
            {"atoms", 1, 4000, 1, "point charges (64 KB of constant memory hold 4000)"}};
  }
  std::map<std::string, Size> sizes() const override {
    const Size printed{{"w", 128}, {"h", 256}, {"atoms", 310}};
    return {{"small", {{"w", 32}, {"h", 0}, {"atoms", 50}}},
            {"default", {{"w", 128}, {"h", 0}, {"atoms", 400}}},
            {"large", {{"w", 512}, {"h", 0}, {"atoms", 4000}}},
            {"dwr", printed},
            {"crown", printed},
            {"harp", printed},
            {"stsimt", printed}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"dwr", {"sm.registers_per_thread=16"}},
            {"crown", {"sm.registers_per_thread=16"}},
            {"harp", {"sm.registers_per_thread=20"}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    const std::uint64_t width = values.at("w"), height = values.at("h") == 0 ? width : values.at("h");
    return sizeof(float) * width * height;
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const std::uint64_t width = values.at("w"), height = values.at("h") == 0 ? width : values.at("h");
    const std::vector<Atom> atoms = make_atoms(values.at("atoms"));
    auto& module = device.load_module(code.ptx, code.file);
    std::uint64_t room = 0;
    const runtime::Address constant = device.symbol(module, "atoms", &room);
    if (atoms.size() * sizeof(Atom) > room) {
      throw InputError(code.file, "its variable 'atoms' holds " + std::to_string(room / sizeof(Atom)) +
                                      " atoms; asked for " + std::to_string(atoms.size()));
    }
    device.copy_to(constant, atoms.data(), atoms.size() * sizeof(Atom));
    DeviceArray<float> grid(device, std::vector<float>(width * height, 0.0f));
    const auto across = static_cast<std::uint32_t>(width / kBlockX),
               down = static_cast<std::uint32_t>(height / kBlockY);
    device.launch(module, kernel_of(module, code), {across, down, 1}, {kBlockX, kBlockY, 1},
                  runtime::Arguments()
                      .add(static_cast<std::int32_t>(atoms.size()))
                      .add(kSpacing)
                      .add(grid.address())
                      .add(static_cast<std::int32_t>(width)));
    device.synchronise();

    const std::vector<float> got = grid.read();
    Reference want;
    return compare(
        "potentials", got.size(),
        [&](std::size_t i) {
          want = reference_at(atoms, i % width, i / width);
          return std::abs(got[i] - want.potential) <= want.tolerance;
        },
        [&](std::size_t i) {
          return "got " + std::to_string(got[i]) + ", want " + std::to_string(want.potential) + " within " +
                 std::to_string(want.tolerance);
        });
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<CoulombicPotential>();
}

}  // namespace weft::workloads::coulombic_potential
