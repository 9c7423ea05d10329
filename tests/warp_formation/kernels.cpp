#include "warp_formation/kernels.h"

#include <random>

#include "ptx/module.h"

namespace weft::warp_formation::test {

ptx::Program kernel(const std::string& body) {
  const std::string text =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a) {\n"
      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n" +
      body + "\n}\n";
  return ptx::decode(ptx::parse(text, "k.ptx"), "k", {});
}

ptx::Program random_kernel(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string body;
  unsigned label = 0;
  const unsigned parts = 1 + random() % 3;
  for (unsigned part = 0; part < parts; ++part) {
    const unsigned blocks = 2 + random() % 7, first = label;
    label += blocks + 1;
    for (unsigned b = 0; b < blocks; ++b) {
      const auto name = [](unsigned n) { return "L" + std::to_string(n); };
      body += name(first + b) + ":\n";
      for (unsigned i = random() % 3; i > 0; --i) body += "  add.u32 %r1, %r1, 1;\n";
      if (random() % 3 == 0) body += "  ld.global.u32 %r2, [%rd1];\n";
      const unsigned ahead = first + b + 1 + random() % (blocks - b);
      switch (random() % 8) {
        case 0:
          body += "  bra " + name(ahead) + ";\n";
          break;
        case 1:
          body += "  @%p1 bra " + name(first + random() % (b + 1)) + ";\n";
          break;
        // An exit inside a branch has no reconvergence point before it: only where no barrier follows.
        case 2:
          body += part + 1 == parts ? "  @%p1 exit;\n" : "  add.u32 %r3, %r3, 1;\n";
          break;
        case 3:
          break;
        default:
          body += "  @%p1 bra " + name(ahead) + ";\n";
          break;
      }
    }
    body += "L" + std::to_string(first + blocks) + ":\n";
    if (part + 1 < parts) {
      if (random() % 2 == 0) body += "  @%p1 exit;\n";
      body += random() % 2 == 0 ? "  bar.sync 0;\n" : "  bar.warp.sync -1;\n";
    }
  }
  return kernel(body + "  ret;");
}

bool random_guard(std::uint64_t seed, const ptx::Program& program, unsigned thread, ptx::Pc pc,
                  unsigned visit) {
  const ptx::Instruction& in = program.code[pc];
  if (in.is_branch() && in.target <= pc && visit >= 2) return false;
  std::uint64_t x =
      seed * 0x9e3779b97f4a7c15u + thread * 0xbf58476d1ce4e5b9u + pc * 0x94d049bb133111ebu + visit;
  x ^= x >> 31;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  return in.is_exit() ? x % 8 == 0 : x % 2 == 0;
}

}  // namespace weft::warp_formation::test
