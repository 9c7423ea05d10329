#include "silicon/measure.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>

namespace weft::test::silicon {
namespace {

constexpr unsigned kShort = 64, kLong = 192, kTurns = 4, kLaunches = 3;
constexpr std::uint64_t kTimedLoads = 8192, kLoadsPerTurn = 16;

std::vector<std::uint8_t> bytes_of(std::uint64_t value) {
  std::vector<std::uint8_t> bytes(8);
  std::memcpy(bytes.data(), &value, 8);
  return bytes;
}

Chain one(const std::string& name, const std::string& step) {
  return {name, step};
}

void arithmetic(std::vector<Chain>& all) {
  all.push_back(one("add.u32, xor.b32: two of them", "add.u32 %x, %x, %y; xor.b32 %x, %x, %z;"));
  all.push_back(one("mad.lo.u32", "mad.lo.u32 %x, %x, %y, %z;"));
  all.push_back(one("popc.b32", "popc.b32 %x, %x;"));
  all.push_back(one("shf.l.wrap.b32", "shf.l.wrap.b32 %x, %x, %x, %y;"));
  all.push_back({"fma.rn.f32", "fma.rn.f32 %f, %f, %fy, %fz;", 1, "", "%f"});
  all.push_back({"fma.rn.f64", "fma.rn.f64 %g, %g, %gy, %gz;", 1, "", "%g"});
  all.push_back(one("fma.rn.f16x2", "fma.rn.f16x2 %x, %x, %y, %z;"));
  for (const std::string name :
       {"sin.approx.ftz.f32", "ex2.approx.ftz.f32", "lg2.approx.ftz.f32", "rsqrt.approx.ftz.f32"}) {
    all.push_back({name, name + " %f, %f;", 1, "", "%f"});
  }
  all.push_back({"rcp.approx.ftz.f32, fma.rn.f32: two of them",
                 "rcp.approx.ftz.f32 %f, %f; fma.rn.f32 %f, %f, %fy, %fz;", 1, "", "%f"});
  all.push_back(one("cvt.rn.f32.u32, cvt.rzi.u32.f32, add.u32: three of them",
                    "cvt.rn.f32.u32 %f, %x; cvt.rzi.u32.f32 %x, %f; add.u32 %x, %x, %z;"));
  all.push_back(
      {"shfl.sync.idx.b32", "shfl.sync.idx.b32 %x, %x, %x, 31, -1;", 32, "  add.u32 %x, %x, %lane;\n"});
  all.push_back({"vote.sync.ballot.b32 and setp.ne.u32",
                 "setp.ne.u32 %p2, %x, %z; vote.sync.ballot.b32 %x, %p2, -1;", 32});
}

// The next address depends on what the last one gave: %z is 0.
void memory(std::vector<Chain>& all) {
  const std::string same_shared = "  mov.u32 %b, box;\n",
                    own_shared = "  shl.b32 %b, %lane, 2; mov.u32 %a, box; add.u32 %b, %b, %a;\n";
  all.push_back({"ld.shared.u32", "ld.shared.u32 %x, [%x];", 1,
                 "  mov.u32 %x, box; st.volatile.shared.u32 [%x], %x;\n"});
  const std::string shared = "and.b32 %x, %x, %z; add.u32 %a, %b, %x; atom.shared.add.u32 %x, [%a], %y;";
  all.push_back({"atom.shared.add.u32, 1 thread", shared, 1, same_shared});
  all.push_back({"atom.shared.add.u32, 32 threads, one address", shared, 32, same_shared});
  all.push_back({"atom.shared.add.u32, 32 threads, 32 addresses", shared, 32, own_shared});
  const std::string cas = "and.b32 %x, %x, %z; add.u32 %a, %b, %x; atom.shared.cas.b32 %x, [%a], %z, %y;";
  all.push_back({"atom.shared.cas.b32, 1 thread", cas, 1, same_shared});
  all.push_back({"atom.shared.cas.b32, 32 threads, one address", cas, 32, same_shared});
  const std::string global =
      "and.b32 %x, %x, %z; mad.wide.u32 %q, %x, 4, %p; atom.global.add.u32 %x, [%q], %y;";
  const std::string own = "  mad.wide.u32 %p, %lane, 4, %p;\n";
  all.push_back({"atom.global.add.u32, 1 thread", global, 1});
  all.push_back({"atom.global.add.u32, 32 threads, one address", global, 32});
  all.push_back({"atom.global.add.u32, 32 threads, 32 addresses", global, 32, own});
  const std::string exchange =
      "and.b32 %x, %x, %z; mad.wide.u32 %q, %x, 4, %p; atom.global.exch.b32 %x, [%q], %y;";
  all.push_back({"atom.global.exch.b32, 1 thread", exchange, 1});
  all.push_back({"atom.global.exch.b32, 32 threads, one address", exchange, 32});
}

void barriers(std::vector<Chain>& all) {
  for (const unsigned threads : {32u, 64u, 128u, 256u, 512u, 1024u}) {
    all.push_back({"bar.sync, " + std::to_string(threads) + " threads", "bar.sync 0;", threads});
  }
}

std::uint64_t shortest(conformance::Machine& machine, std::uint64_t out, std::uint64_t buffer,
                       unsigned threads) {
  std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
  for (unsigned launch = 0; launch < kLaunches; ++launch) {
    machine.launch(1, threads, {bytes_of(out), bytes_of(buffer)});
    std::uint64_t times[kTurns] = {};
    machine.read(times, out, sizeof times);
    best = std::min(best, *std::min_element(times + 1, times + kTurns));
  }
  return best;
}

std::string declared() {
  return " {\n  .reg .pred %p1, %p2, %p3; .reg .b32 %x, %y, %z, %a, %b, %lane, %turn, %low; .reg .b64 %p, "
         "%q, "
         "%out, %t0, %t1, %w;\n"
         "  .reg .f32 %f, %fy, %fz; .reg .f64 %g, %gy, %gz;\n  .shared .align 8 .b8 box[4096];\n"
         "  ld.param.u64 %out, [out]; ld.param.u64 %p, [buffer]; mov.u32 %lane, %tid.x;\n"
         "  ld.volatile.global.v2.u32 {%y, %z}, [%out+64]; cvt.rn.f32.u32 %fy, %y; cvt.rn.f32.u32 %fz, %z;\n"
         "  cvt.rn.f64.u32 %gy, %y; cvt.rn.f64.u32 %gz, %z; mov.f32 %f, %fy; mov.f64 %g, %gy; mov.u32 %x, "
         "%y;\n"
         "  mov.u32 %turn, 0; setp.ne.u32 %p1, %lane, 0; mov.u32 %a, box; shl.b32 %b, %lane, 2; add.u32 %a, "
         "%a, %b;\n"
         "  st.volatile.shared.u32 [%a], %z; bar.sync 0;\n";
}

// A store that never happens: the clock is read after the last step.
std::string used(const std::string& target) {
  if (target == "%f") return "setp.eq.f32 %p3, %f, 0f4640e400;";
  if (target == "%g") return "setp.eq.f64 %p3, %g, 0d40c81c8000000000;";
  if (target == "%p") return "setp.eq.u64 %p3, %p, 12345;";
  return "setp.eq.u32 %p3, %x, 0x12345679;";
}

}  // namespace

std::vector<Chain> chains() {
  std::vector<Chain> all;
  arithmetic(all);
  memory(all);
  barriers(all);
  return all;
}

std::string module_of(const Chain& chain, unsigned steps, const std::string& header) {
  std::ostringstream text;
  text << header << ".address_size 64\n.visible .entry k(.param .u64 out, .param .u64 buffer)" << declared()
       << chain.setup
       << "TURN:\n  mov.u64 %t0, %clock64;\n  cvt.u32.u64 %low, %t0; and.b32 %low, %low, %z; add.u32 %x, %x, "
          "%low;\n"
          "  cvt.rn.f32.u32 %fz, %low; cvt.rn.f64.u32 %gz, %low;\n";
  for (unsigned i = 0; i < steps; ++i) text << "  " << chain.step << '\n';
  text << "  " << used(chain.target)
       << "\n  @%p3 st.volatile.global.u32 [%out+128], %y;\n  mov.u64 %t1, %clock64;\n  sub.u64 %t1, %t1, "
          "%t0;\n"
          "  mad.wide.u32 %w, %turn, 8, %out; add.u32 %turn, %turn, 1;\n"
          "  @!%p1 st.volatile.global.u64 [%w], %t1;\n  setp.lt.u32 %p2, %turn, "
       << kTurns << ";\n  @%p2 bra TURN;\n  ret;\n}\n";
  return text.str();
}

double measure(conformance::Machine& machine, const Chain& chain) {
  const std::uint64_t out = machine.allocate(256), buffer = machine.allocate(4096);
  std::vector<std::uint32_t> zero(1024), start(64);
  start[16] = 1;
  machine.write(buffer, zero.data(), 4096);
  machine.write(out, start.data(), 256);
  const auto cycles = [&](unsigned steps) {
    machine.load(module_of(chain, steps, machine.header()));
    return static_cast<double>(shortest(machine, out, buffer, chain.threads));
  };
  return (cycles(kLong) - cycles(kShort)) / (kLong - kShort);
}

namespace {

// %p goes once round all pointers; then as many loads as a turn says are timed, kTurns times.
std::string chase_module(const std::string& cache, const std::string& header) {
  const std::string load = "  ld.global." + cache + ".u64 %p, [%p];\n";
  std::string loads;
  for (unsigned i = 0; i < kLoadsPerTurn; ++i) loads += load;
  const auto loop = [&](const std::string& label) {
    return label + ":\n" + loads + "  sub.u64 %q, %q, 1; setp.ne.u64 %p2, %q, 0;\n  @%p2 bra " + label +
           ";\n";
  };
  return header + ".address_size 64\n.visible .entry k(.param .u64 out, .param .u64 buffer)" + declared() +
         "  ld.volatile.global.u64 %q, [%out+80];\n" + loop("WARM") +
         "TURN:\n  ld.volatile.global.u64 %q, [%out+72];\n"
         "  mov.u64 %t0, %clock64;\n" +
         loop("TIMED") + "  " + used("%p") +
         "\n  @%p3 st.volatile.global.u32 [%out+128], %y;\n  mov.u64 %t1, %clock64;\n  sub.u64 %t1, %t1, "
         "%t0;\n"
         "  mad.wide.u32 %w, %turn, 8, %out; add.u32 %turn, %turn, 1;\n  st.volatile.global.u64 [%w], %t1;\n"
         "  setp.lt.u32 %p2, %turn, " +
         std::to_string(kTurns) + ";\n  @%p2 bra TURN;\n  ret;\n}\n";
}

class Chaser {
 public:
  Chaser(conformance::Machine& machine, std::uint64_t most_bytes)
      : machine_(machine),
        most_(most_bytes),
        out_(machine.allocate(256)),
        buffer_(machine.allocate(most_bytes)) {}

  void link(std::uint64_t stride) {
    stride_ = stride;
    std::vector<std::uint64_t> words(most_ / 8);
    for (std::uint64_t at = 0; at < most_; at += stride) words[at / 8] = buffer_ + at + stride;
    machine_.write(buffer_, words.data(), most_);
  }
  double run(std::uint64_t bytes) {
    const std::uint64_t turns = kTimedLoads / kLoadsPerTurn;
    std::uint64_t start[16] = {};
    start[8] = 1;
    start[9] = turns;
    start[10] = (bytes / stride_ + kLoadsPerTurn - 1) / kLoadsPerTurn;
    machine_.write(out_, start, sizeof start);
    const std::uint64_t last = buffer_ + bytes - stride_, next = buffer_ + bytes;
    machine_.write(last, &buffer_, 8);  // back to the first
    std::uint64_t times[kTurns] = {};
    machine_.launch(1, 1, {bytes_of(out_), bytes_of(buffer_)});
    machine_.read(times, out_, sizeof times);
    machine_.write(last, &next, 8);
    return static_cast<double>(*std::min_element(times, times + kTurns)) / kTimedLoads;
  }

 private:
  conformance::Machine& machine_;
  std::uint64_t most_, out_, buffer_, stride_ = 0;
};

}  // namespace

std::vector<Chase> chase(conformance::Machine& machine, std::uint64_t most_bytes) {
  std::vector<Chase> all;
  Chaser chaser(machine, most_bytes);
  for (const std::uint64_t stride : {32, 64, 128}) {
    chaser.link(stride);
    for (const std::string cache : {"ca", "cg"}) {
      machine.load(chase_module(cache, machine.header()));
      for (std::uint64_t bytes = 1024; bytes <= most_bytes; bytes *= 2)
        all.push_back({cache, bytes, stride, chaser.run(bytes)});
    }
  }
  return all;
}

std::string measurements(conformance::Machine& machine, std::uint64_t most_bytes) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << "  \"chains\": {";
  const char* comma = "\n";
  for (const Chain& chain : chains()) {
    text << comma << "    \"" << chain.name << "\": " << measure(machine, chain);
    comma = ",\n";
  }
  text << "\n  },\n  \"loads\": [";
  comma = "\n";
  for (const Chase& each : chase(machine, most_bytes)) {
    text << comma << "    {\"cache\": \"" << each.cache << "\", \"stride\": " << each.stride
         << ", \"bytes\": " << each.bytes << ", \"cycles\": " << each.cycles << "}";
    comma = ",\n";
  }
  text << "\n  ]";
  return text.str();
}

}  // namespace weft::test::silicon
