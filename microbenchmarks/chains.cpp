#include "microbenchmarks/chains.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace weft::microbenchmarks {
namespace {

// Instructions of the short and of the long chain: both fit the smallest instruction cache of a machine.
constexpr unsigned kShort = 48, kLong = 144;
// Shared memory of a block, for chains through it.
constexpr const char* kBox = "  .shared .align 16 .b8 box[16384];\n";

// $x of chain 2 is %x2.
std::string numbered(const std::string& text, unsigned chain) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$' && i + 1 < text.size()) {
      result.append("%").append(1, text[++i]).append(std::to_string(chain));
    } else {
      result += text[i];
    }
  }
  return result;
}

Chain integer(const std::string& name, const std::string& operands, bool guarded = false) {
  Chain chain{name, name + " " + operands + ";"};
  chain.guarded = guarded;
  chain.throughput = true;
  return chain;
}

Chain real(const std::string& name, const std::string& operands, const std::string& target,
           bool guarded = false) {
  Chain chain{name, name + " " + operands + ";", target};
  chain.guarded = guarded;
  chain.throughput = true;
  return chain;
}

Chain several(const std::string& name, const std::string& step, unsigned instructions,
              const std::string& target = "$x") {
  Chain chain{name, step, target};
  chain.instructions = instructions;
  chain.throughput = true;
  return chain;
}

void add_integers(std::vector<Chain>& all) {
  for (const char* name : {"add.u32", "sub.u32", "and.b32", "or.b32", "xor.b32", "min.u32", "max.s32"})
    all.push_back(
        integer(name, std::string("$x, $x, ") + (name[0] == 'a' && name[1] == 'n' ? "%y" : "%z"), true));
  for (const char* name : {"shl.b32", "shr.u32"}) all.push_back(integer(name, "$x, $x, %z", true));
  all.push_back(integer("shf.l.wrap.b32", "$x, $x, $x, %y"));
  all.push_back(integer("prmt.b32", "$x, $x, %z, %y"));
  for (const char* name : {"mul.lo.u32", "mul.hi.u32"}) all.push_back(integer(name, "$x, $x, %y"));
  all.push_back(integer("mad.lo.u32", "$x, $x, %y, %z"));
  all.push_back(integer("dp4a.u32.u32", "$x, $x, %y, %z"));
  for (const char* name : {"div.u32", "rem.u32"}) all.push_back(integer(name, "$x, $x, %y"));
  for (const char* name : {"popc.b32", "clz.b32", "brev.b32"}) all.push_back(integer(name, "$x, $x"));
  all.push_back(integer("bfe.u32", "$x, $x, %z, %y"));
  all.push_back(real("add.u64", "$p, $p, %zero", "$p", true));
  all.push_back(real("mul.lo.u64", "$p, $p, %number", "$p"));
  all.push_back(several("add.u32 + xor.b32", "add.u32 $x, $x, %y; xor.b32 $x, $x, %z;", 2));
  all.push_back(several("mul.wide.u32 + mov.b64 + xor.b32",
                        "mul.wide.u32 $p, $x, %y; mov.b64 {$x, $a}, $p; xor.b32 $x, $x, $a;", 3));
  all.push_back(several("setp.ne.u32 + selp.b32", "setp.ne.u32 $c, $x, %z; selp.b32 $x, %y, $x, $c;", 2));
  all.push_back(several("selp.b32: two of them", "selp.b32 $x, $x, %y, %ta; selp.b32 $x, $x, %z, %tb;", 2));
}

void add_reals(std::vector<Chain>& all) {
  for (const char* name : {"add.rn.f32", "mul.rn.f32"})
    all.push_back(real(name, std::string("$f, $f, ") + (name[0] == 'a' ? "%fz" : "%fy"), "$f"));
  all.push_back(real("fma.rn.f32", "$f, $f, %fy, %fz", "$f"));
  all.push_back(real("min.f32", "$f, $f, %fy", "$f", true));
  for (const char* name : {"add.rn.f64", "mul.rn.f64"})
    all.push_back(real(name, std::string("$g, $g, ") + (name[0] == 'a' ? "%gz" : "%gy"), "$g"));
  all.push_back(real("fma.rn.f64", "$g, $g, %gy, %gz", "$g"));
  all.push_back(real("add.rn.f16x2", "$x, $x, %z", "$x"));
  all.push_back(real("mul.rn.f16x2", "$x, $x, %y", "$x"));
  all.push_back(real("fma.rn.f16x2", "$x, $x, %y, %z", "$x"));
  all.push_back(real("fma.rn.bf16x2", "$x, $x, %y, %z", "$x"));
  for (const char* name :
       {"sin.approx.ftz.f32", "cos.approx.ftz.f32", "ex2.approx.ftz.f32", "lg2.approx.ftz.f32",
        "rsqrt.approx.ftz.f32", "sqrt.approx.ftz.f32", "tanh.approx.f32"})
    all.push_back(real(name, "$f, $f", "$f"));
  all.push_back(several("rcp.approx.ftz.f32 + fma.rn.f32",
                        "rcp.approx.ftz.f32 $f, $f; fma.rn.f32 $f, $f, %fy, %fz;", 2, "$f"));
  all.push_back(real("sqrt.rn.f32", "$f, $f", "$f"));
  all.push_back(real("div.rn.f32", "$f, $f, %fy", "$f"));
  all.push_back(real("div.rn.f64", "$g, $g, %gy", "$g"));
  all.push_back(several("cvt.rn.f32.u32 + cvt.rzi.u32.f32 + add.u32",
                        "cvt.rn.f32.u32 $f, $x; cvt.rzi.u32.f32 $x, $f; add.u32 $x, $x, %z;", 3));
  all.push_back(several("cvt.f64.f32 + cvt.rn.f32.f64 + add.rn.f32",
                        "cvt.f64.f32 $g, $f; cvt.rn.f32.f64 $f, $g; add.rn.f32 $f, $f, %fz;", 3, "$f"));
  all.push_back(several("cvt.rn.f16.f32 + cvt.f32.f16 + add.rn.f32",
                        "cvt.rn.f16.f32 $h, $f; cvt.f32.f16 $f, $h; add.rn.f32 $f, $f, %fz;", 3, "$f"));
}

void add_warp_primitives(std::vector<Chain>& all) {
  // Lanes differ, else a compiler knows that a shuffle changes nothing.
  for (const char* operands : {"idx.b32 $x, $x, $x, 31, -1", "bfly.b32 $x, $x, 1, 31, -1"}) {
    const std::string step = std::string("shfl.sync.") + operands + ";";
    Chain shuffle{step.substr(0, step.find(' ')), step, "$x", "  add.u32 $x, $x, %lane;\n"};
    shuffle.throughput = true;
    all.push_back(shuffle);
  }
  all.push_back(several("setp.ne.u32 + vote.sync.ballot.b32",
                        "setp.ne.u32 $c, $x, %z; vote.sync.ballot.b32 $x, $c, -1;", 2));
  all.push_back(integer("match.any.sync.b32", "$x, $x, -1"));
  all.push_back(integer("redux.sync.add.u32", "$x, $x, -1"));
}

Chain atomic(const std::string& name, const std::string& step, const std::string& setup, unsigned threads,
             unsigned addresses) {
  Chain chain{name, step, "$x", setup, 3};
  chain.threads = threads;
  chain.addresses = addresses;
  return chain;
}

// The next address depends on what the last access gave: %z is 0.
void add_memory(std::vector<Chain>& all) {
  const std::string same_shared = "  mov.u32 $b, box;\n";
  const std::string own_shared = "  shl.b32 $b, %lane, 2; mov.u32 $a, box; add.u32 $b, $b, $a;\n";
  Chain load{"ld.shared.u32", "ld.shared.u32 $x, [$x];", "$x",
             "  mov.u32 $x, box; st.volatile.shared.u32 [$x], $x;\n"};
  load.throughput = true;
  all.push_back(load);
  const auto add_shapes = [&](const std::string& name, const std::string& step, const std::string& same,
                              const std::string& own) {
    all.push_back(atomic(name, step, same, 1, 1));
    all.push_back(atomic(name, step, same, 32, 1));
    all.push_back(atomic(name, step, own, 32, 32));
  };
  const std::string to_shared = "and.b32 $x, $x, %z; add.u32 $a, $b, $x; ";
  add_shapes("atom.shared.add.u32", to_shared + "atom.shared.add.u32 $x, [$a], %y;", same_shared, own_shared);
  add_shapes("atom.shared.cas.b32", to_shared + "atom.shared.cas.b32 $x, [$a], %z, %y;", same_shared,
             own_shared);
  const std::string to_global = "and.b32 $x, $x, %z; mad.wide.u32 $q, $x, 4, $p; ";
  const std::string same = "  mov.u64 $p, %buffer;\n", own = "  mad.wide.u32 $p, %lane, 4, %buffer;\n";
  add_shapes("atom.global.add.u32", to_global + "atom.global.add.u32 $x, [$q], %y;", same, own);
  add_shapes("atom.global.exch.b32", to_global + "atom.global.exch.b32 $x, [$q], %y;", same, own);
}

void add_barriers(std::vector<Chain>& all) {
  all.push_back({"bar.warp.sync", "bar.warp.sync -1;"});
  for (const unsigned threads : {32u, 64u, 128u, 256u, 512u, 1024u}) {
    Chain chain{"bar.sync", "bar.sync 0;"};
    chain.threads = threads;
    all.push_back(chain);
  }
}

std::string use_of(const std::string& target, unsigned chain) {
  const char* const type = target == "$f" ? "f32" : target == "$g" ? "f64" : target == "$p" ? "u64" : "u32";
  return used(type, numbered(target, chain));
}

}  // namespace

std::vector<Chain> chains() {
  std::vector<Chain> all;
  add_integers(all);
  add_reals(all);
  add_warp_primitives(all);
  add_memory(all);
  add_barriers(all);
  return all;
}

std::string module_of(const Chain& chain, unsigned count, unsigned steps) {
  std::ostringstream text;
  text << kernel_head({}, kBox) << "  mov.u32 %base, box; shl.b32 %d0, %lane, 2; add.u32 %base, %base, %d0;\n"
       << "  st.volatile.shared.u32 [%base], %z;\n  bar.sync 0;\n";
  for (unsigned i = 0; i < count; ++i)
    text << numbered("  mov.u32 $x, %y; mov.f32 $f, %fy; mov.f64 $g, %gy; mov.u64 $p, %number;\n", i)
         << numbered(chain.setup, i);
  text << turn_begin() << "  cvt.rn.f32.u32 %fz, %low; cvt.rn.f64.u32 %gz, %low;\n";
  for (unsigned i = 0; i < count; ++i) text << numbered("  add.u32 $x, $x, %low;\n", i);
  for (unsigned step = 0; step < steps; ++step) {
    const char* const guard = !chain.guarded ? "" : step % 2 == 0 ? "@%ta " : "@%tb ";
    for (unsigned i = 0; i < count; ++i) text << "  " << guard << numbered(chain.step, i) << '\n';
  }
  for (unsigned i = 0; i < count; ++i) text << use_of(chain.target, i);
  text << turn_end();
  return text.str();
}

double cycles_of_step(Bench& bench, const Chain& chain, unsigned warps, unsigned count,
                      std::uint64_t buffer_bytes) {
  const Shape shape{1, warps == 0 ? chain.threads : 32 * warps};
  const auto steps_of = [&](unsigned instructions) {
    return std::max(1u, instructions / (chain.instructions * count));
  };
  const auto cycles = [&](unsigned steps) {
    return bench.span(bench.kernel(module_of(chain, count, steps)), shape, bench.buffer(buffer_bytes), 1);
  };
  const unsigned few = steps_of(kShort), many = steps_of(kLong);
  return (cycles(many) - cycles(few)) / (many - few);
}

}  // namespace weft::microbenchmarks
