#include "warp_formation/kernels.h"

#include <algorithm>
#include <random>

#include "weft/ptx/module.h"

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
  // Threads that leave before a barrier come past no warp-level one.
  const bool leaves_early = random() % 2 == 0;
  static const char* const kLeave[] = {"exit", "ret", "bra OUT", "bra DONE"};
  for (unsigned part = 0; part < parts; ++part) {
    const unsigned blocks = 2 + random() % 7, first = label;
    label += blocks + 1;
    const auto name = [](unsigned n) { return "L" + std::to_string(n); };
    for (unsigned b = 0; b < blocks; ++b) {
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
        case 2:
          body += leaves_early || part + 1 == parts
                      ? std::string("  @%p1 ") + kLeave[random() % (leaves_early ? 4 : 1)] + ";\n"
                      : "  add.u32 %r3, %r3, 1;\n";
          break;
        case 3:
          break;
        default:
          body += "  @%p1 bra " + name(ahead) + ";\n";
          break;
      }
    }
    body += name(first + blocks) + ":\n";
    if (part + 1 < parts) {
      if (random() % 2 == 0) body += "  @%p1 exit;\n";
      body += leaves_early || random() % 2 == 0 ? "  bar.sync 0;\n" : "  bar.warp.sync -1;\n";
      if (leaves_early && random() % 4 == 0) body += "  @%p1 bra " + name(first) + ";\n";
    }
  }
  return kernel(body + "  add.u32 %r1, %r1, 1;\nDONE:\n  add.u32 %r1, %r1, 1;\nOUT:\n  ret;");
}

bool random_guard(std::uint64_t seed, const ptx::Program& program, unsigned thread, ptx::Pc pc,
                  unsigned visit) {
  const ptx::Instruction& in = program.code[pc];
  const bool back = in.is_branch() && in.target <= pc;
  if (back && visit >= 2) return false;
  const auto code = program.code.begin();
  const bool round_a_barrier =
      back && std::any_of(code + in.target, code + pc, [](const auto& i) { return i.is_barrier(); });
  std::uint64_t x = seed * 0x9e3779b97f4a7c15u + (round_a_barrier ? 0 : thread) * 0xbf58476d1ce4e5b9u +
                    pc * 0x94d049bb133111ebu + visit;
  x ^= x >> 31;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  const bool leaves = in.is_exit() || (in.is_branch() && in.target + 2 >= program.code.size());
  // Of some ways out nobody makes use.
  return leaves ? (pc + seed) % 4 != 0 && x % 8 == 0 : x % 2 == 0;
}

}  // namespace weft::warp_formation::test
