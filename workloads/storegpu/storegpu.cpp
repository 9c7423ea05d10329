#include <algorithm>
#include <array>
#include <cmath>

#include "workloads/host.h"

namespace weft::workloads::storegpu {
namespace {

constexpr std::uint32_t kMaxThreads = 64;  // as in storegpu.cu

using Digest = std::array<std::uint32_t, 4>;

std::array<std::uint32_t, 64> sines() {  // RFC 1321, section 3.4
  std::array<std::uint32_t, 64> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] =
        static_cast<std::uint32_t>(std::floor(std::abs(std::sin(static_cast<double>(i + 1))) * 4294967296.0));
  }
  return table;
}

// MD5 of whole blocks of 16 words, in four passes as the RFC writes it.
Digest md5(std::vector<std::uint32_t> message, const std::array<std::uint32_t, 64>& table) {
  const std::uint64_t bits = message.size() * 32;
  message.push_back(0x80);
  message.resize(message.size() + 13);
  message.push_back(static_cast<std::uint32_t>(bits));
  message.push_back(static_cast<std::uint32_t>(bits >> 32));
  using Mix = std::uint32_t (*)(std::uint32_t, std::uint32_t, std::uint32_t);
  struct Pass {
    Mix mix;
    std::uint32_t first, step;  // word of the block
    std::array<std::uint32_t, 4> turns;
  };
  const std::array<Pass, 4> passes = {
      Pass{[](auto x, auto y, auto z) { return (x & y) | (~x & z); }, 0, 1, {7, 12, 17, 22}},
      Pass{[](auto x, auto y, auto z) { return (x & z) | (y & ~z); }, 1, 5, {5, 9, 14, 20}},
      Pass{[](auto x, auto y, auto z) { return x ^ y ^ z; }, 5, 3, {4, 11, 16, 23}},
      Pass{[](auto x, auto y, auto z) { return y ^ (x | ~z); }, 0, 7, {6, 10, 15, 21}}};
  Digest digest{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (std::size_t block = 0; block < message.size(); block += 16) {
    Digest v = digest;
    for (std::uint32_t i = 0; i < 64; ++i) {
      const Pass& pass = passes[i / 16];
      const std::uint32_t word = message[block + (pass.first + pass.step * (i % 16)) % 16];
      const std::uint32_t sum = v[0] + pass.mix(v[1], v[2], v[3]) + table[i] + word, turn = pass.turns[i % 4];
      v = {v[3], v[1] + (sum << turn | sum >> (32 - turn)), v[1], v[2]};
    }
    for (std::size_t i = 0; i < 4; ++i) digest[i] += v[i];
  }
  return digest;
}

class Storegpu : public Workload {
 public:
  std::string name() const override { return "storegpu"; }
  std::string summary() const override {
    return "MD5 of chunks of files from small to large: integer arithmetic, half-empty blocks";
  }
  std::vector<Option> options() const override {
    return {{"chunks", 2, 1u << 17, 1, "of the largest file; before it come files of 2, 4, 8 ... chunks"},
            {"bytes", 64, 4096, 64, "of a chunk"},
            {"seed", 0, UINT32_MAX, 1, "of the data"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t chunks, std::uint64_t bytes) {
      return Size{{"chunks", chunks}, {"bytes", bytes}, {"seed", 12345}};
    };
    return {{"small", size(100, 64)},
            {"default", size(16'640, 256)},
            {"large", size(100'000, 1024)},
            {"stsimt", size(16'640, 256)}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return values.at("chunks") * values.at("bytes");
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const auto most = static_cast<std::uint32_t>(values.at("chunks"));
    const auto words = static_cast<std::uint32_t>(values.at("bytes") / 4);
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    std::vector<std::uint32_t> data(std::size_t{most} * words);
    for (std::uint32_t& word : data) word = random.next() << 16 ^ random.next();
    const auto table = sines();
    std::vector<Digest> want;
    want.reserve(most);
    for (std::size_t from = 0; from < data.size(); from += words) {
      want.push_back(md5({data.begin() + from, data.begin() + from + words}, table));
    }

    auto& module = device.load_module(code.ptx, code.file);
    const std::string kernel = kernel_of(module, code);
    const DeviceArray<std::uint32_t> device_data(device, data);
    const DeviceArray<Digest> digests(device, most);
    Result result;
    // Files that double in size, and one of all chunks. A file of fewer than 64 chunks is one small block.
    for (std::uint64_t doubled = 2, chunks = 0; chunks != most; doubled *= 2) {
      chunks = std::min<std::uint64_t>(doubled, most);
      const auto block = static_cast<std::uint32_t>(std::min<std::uint64_t>(chunks, kMaxThreads));
      device.fill(digests.address(), 0, most * sizeof(Digest));
      device.launch(module, kernel, {blocks_for(chunks, block), 1, 1}, {block, 1, 1},
                    runtime::Arguments()
                        .add(device_data.address())
                        .add(static_cast<std::int32_t>(chunks))
                        .add(static_cast<std::int32_t>(words))
                        .add(digests.address()));
      device.synchronise();
      const std::vector<Digest> got = digests.read();
      result = compare(
          "digests of " + std::to_string(chunks) + " chunks", chunks,
          [&](std::size_t i) { return got[i] == want[i]; },
          [&](std::size_t i) {
            return "first words: got " + std::to_string(got[i][0]) + ", want " + std::to_string(want[i][0]);
          });
      if (!result.verified) return result;
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<Storegpu>();
}

}  // namespace weft::workloads::storegpu
