#include "platform/gpu_bench.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "weft/warp_formation/scheme.h"

namespace weft::test {

std::string kernel_text(const std::string& parameters, const std::string& body) {
  return ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(" + parameters +
         ") {\n.reg .pred %p<16>; .reg .b16 %rs<16>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .f32 %f<16>; "
         ".reg .f64 %fd<16>;\n" +
         body + "\n}\n";
}

std::string looped_kernel(const std::string& body, const std::string& prologue) {
  return kernel_text(".param .u64 out, .param .u32 turns, .param .u64 start",
                     R"(
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r62, [turns];
  ld.param.u64 %rd3, [start];
  mov.u32 %r2, %tid.x;
  mov.u32 %r1, 0;
  mov.u32 %r63, 0;
)" + prologue + R"(
TURN:
)" + body + R"(
  add.u32 %r63, %r63, 1;
  setp.lt.u32 %p15, %r63, %r62;
  @%p15 bra TURN;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
)");
}

std::string repeated(unsigned count, const std::string& text) {
  std::string all;
  for (unsigned i = 0; i < count; ++i) all += text + "\n";
  return all;
}

GpuBench::GpuBench(const std::vector<std::string>& overrides, const std::string& config,
                   const runtime::DeviceOptions& options)
    : device(load_config(config, overrides), options) {}

void GpuBench::load(const std::string& ptx) {
  if (ptx == text_) return;
  text_ = ptx;
  module_ = &device.load_module(ptx, "k.ptx");
}

std::uint64_t GpuBench::run(const dispatch::Dim3& grid, const dispatch::Dim3& block,
                            const runtime::Arguments& arguments) {
  const std::uint64_t before = device.gpu().totals().cycles;
  device.launch(*module_, "k", grid, block, arguments);
  device.synchronise();
  return device.gpu().totals().cycles - before;
}

double GpuBench::cycles_per_turn(const std::string& ptx, const dispatch::Dim3& block, std::uint64_t start) {
  constexpr std::uint32_t kFew = 20, kMany = 120;
  if (out_ == 0) out_ = device.allocate(1024 * 4);
  load(ptx);
  const auto cycles = [&](std::uint32_t turns) {
    return static_cast<double>(run({1, 1, 1}, block, runtime::Arguments().add(out_).add(turns).add(start)));
  };
  cycles(kFew);  // fills the L2 with what both runs need
  const double few = cycles(kFew);
  return (cycles(kMany) - few) / (kMany - kFew);
}

double GpuBench::cycles_per_copy(const std::string& instructions, const dispatch::Dim3& block,
                                 std::uint64_t start, const std::string& prologue) {
  constexpr unsigned kFew = 8, kMany = 24;
  const double few = cycles_per_turn(looped_kernel(repeated(kFew, instructions), prologue), block, start);
  const double many = cycles_per_turn(looped_kernel(repeated(kMany, instructions), prologue), block, start);
  return (many - few) / (kMany - kFew);
}

void GpuBench::reset() {
  device.reset();
  text_.clear();
  module_ = nullptr;
  out_ = 0;
}

runtime::Address GpuBench::words(const std::vector<std::uint32_t>& values) {
  const auto address = device.allocate(values.size() * 4);
  device.copy_to(address, values.data(), values.size() * 4);
  return address;
}

runtime::Address GpuBench::zeros(std::uint64_t bytes) {
  const auto address = device.allocate(bytes);
  device.fill(address, 0, bytes);
  return address;
}

std::vector<std::uint32_t> GpuBench::read(runtime::Address from, std::size_t words) const {
  std::vector<std::uint32_t> values(words);
  device.copy_from(values.data(), from, words * 4);
  return values;
}

nlohmann::ordered_json GpuBench::statistics() {
  return device.gpu().statistics().sample();
}

double GpuBench::sum_over_sms(statistics::Path path) {
  double sum = 0;
  for (const statistics::Group* sm : device.gpu().statistics().groups({"sm"}))
    sum += static_cast<double>(sm->sum(path).value());
  return sum;
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names = config_names();
  for (const auto& scheme : warp_formation::scheme_names()) {
    if (scheme == "sbr") continue;
    for (const char* config : {"harp-fermi", "crown-tesla", "gtx480"})
      names.push_back(config + ("+" + scheme));
  }
  return names;
}

std::string config_of(const std::string& machine) {
  return machine.substr(0, machine.find('+'));
}

std::vector<std::string> overrides_of(const std::string& machine, std::vector<std::string> overrides) {
  const auto plus = machine.find('+');
  if (plus != std::string::npos) overrides.push_back("warp_formation.scheme=" + machine.substr(plus + 1));
  return overrides;
}

std::string test_name_of(std::string machine) {
  for (char& c : machine) c = c == '-' || c == '+' ? '_' : c;
  return machine;
}

std::string apart(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    int status = 0;
    try {
      const std::string text = body();
      for (std::size_t at = 0; at < text.size();) {
        const ssize_t n = write(ends[1], text.data() + at, text.size() - at);
        if (n <= 0) _exit(2);
        at += static_cast<std::size_t>(n);
      }
    } catch (const std::exception& error) {
      fprintf(stderr, "%s\n", error.what());
      status = 1;
    }
    _exit(::testing::Test::HasFailure() ? 1 : status);
  }
  close(ends[1]);
  std::string text;
  char buffer[65536];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "the child failed";
  return text;
}

}  // namespace weft::test
