#include <algorithm>
#include <array>
#include <cstring>

#include "workloads/texture.h"

namespace weft::workloads::aes {
namespace {

constexpr std::uint32_t kThreads = 256, kRounds = 10;  // as in aes.cu
constexpr std::size_t kBytes = 16;                     // of a block of AES

using Bytes = std::vector<std::uint8_t>;
using Table = std::array<std::uint8_t, 256>;

// Products in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197, section 4.2).
std::uint8_t product(std::uint8_t a, std::uint8_t b) {
  std::uint8_t sum = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) sum ^= a;
    a = static_cast<std::uint8_t>(a << 1 ^ ((a & 0x80) != 0 ? 0x1b : 0));
  }
  return sum;
}

// The inverse, then the affine map of FIPS 197, section 5.1.1.
Table substitution() {
  Table box{};
  for (unsigned x = 0; x < 256; ++x) {
    std::uint8_t inverse = 0;
    for (unsigned y = 1; y < 256; ++y) {
      if (product(static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)) == 1)
        inverse = static_cast<std::uint8_t>(y);
    }
    unsigned value = 0x63;
    for (unsigned turn = 0; turn < 5; ++turn) value ^= (inverse << turn | inverse >> (8 - turn)) & 0xff;
    box[x] = static_cast<std::uint8_t>(value);
  }
  return box;
}

Bytes expanded(const Bytes& key, const Table& box) {
  Bytes keys = key;
  std::uint8_t constant = 1;
  while (keys.size() < kBytes * (kRounds + 1)) {
    std::array<std::uint8_t, 4> word{};
    std::copy(keys.end() - 4, keys.end(), word.begin());
    if (keys.size() % kBytes == 0) {
      word = {static_cast<std::uint8_t>(box[word[1]] ^ constant), box[word[2]], box[word[3]], box[word[0]]};
      constant = product(constant, 2);
    }
    for (const std::uint8_t byte : word) keys.push_back(keys[keys.size() - kBytes] ^ byte);
  }
  return keys;
}

// One block, step by step as in FIPS 197, section 5.1; state[4 c + r] is row r of column c.
void encrypt(std::uint8_t* state, const Bytes& keys, const Table& box) {
  const auto add_key = [&](std::size_t round) {
    for (std::size_t i = 0; i < kBytes; ++i) state[i] ^= keys[round * kBytes + i];
  };
  add_key(0);
  for (std::size_t round = 1; round <= kRounds; ++round) {
    std::array<std::uint8_t, kBytes> shifted{};
    for (std::size_t i = 0; i < kBytes; ++i) shifted[i] = box[state[(i + 4 * (i % 4)) % kBytes]];
    for (std::size_t i = 0; i < kBytes; ++i) {
      const auto row = [&](std::size_t r) { return shifted[i / 4 * 4 + (i + r) % 4]; };
      state[i] = round == kRounds
                     ? row(0)
                     : static_cast<std::uint8_t>(product(row(0), 2) ^ product(row(1), 3) ^ row(2) ^ row(3));
    }
    add_key(round);
  }
}

// What a byte of row r contributes to its column, as a word.
std::vector<std::uint32_t> joined_tables(const Table& box) {
  constexpr std::uint8_t kFactors[4] = {2, 1, 1, 3};  // of row 0's byte in rows 0 to 3
  std::vector<std::uint32_t> tables;
  for (unsigned row = 0; row < 4; ++row) {
    for (const std::uint8_t value : box) {
      std::uint32_t word = 0;
      for (unsigned to = 0; to < 4; ++to) {
        word |= std::uint32_t{product(value, kFactors[(to + 4 - row) % 4])} << (8 * to);
      }
      tables.push_back(word);
    }
  }
  return tables;
}

std::vector<std::uint32_t> words_of(const Bytes& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

class Aes : public Workload {
 public:
  std::string name() const override { return "aes"; }
  std::string summary() const override {
    return "AES-128 by tables in shared memory: bank conflicts, barriers";
  }
  std::vector<Option> options() const override {
    return {{"blocks", 64, 1u << 22, 64, "blocks of 16 bytes to encrypt"},
            {"seed", 0, UINT32_MAX, 1, "of the text"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t blocks) { return Size{{"blocks", blocks}, {"seed", 12345}}; };
    return {
        {"small", size(256)}, {"default", size(16'448)}, {"large", size(262'144)}, {"stsimt", size(16'448)}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"stsimt", {"sm.registers_per_thread=40"}}};
  }
  std::uint64_t device_bytes(const Size& values) const override { return 2 * kBytes * values.at("blocks"); }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const std::size_t blocks = values.at("blocks");
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    // Key and first block are the example of FIPS 197, appendix C.1.
    Bytes key, text, example;
    for (std::uint8_t i = 0; i < kBytes; ++i) key.push_back(i), text.push_back(i * 0x11);
    for (std::size_t i = kBytes; i < blocks * kBytes; ++i)
      text.push_back(static_cast<std::uint8_t>(random.next()));
    example = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
               0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    const Table box = substitution();
    const Bytes keys = expanded(key, box);

    auto& module = device.load_module(code.ptx, code.file);
    const auto tables = joined_tables(box);
    const std::vector<std::uint32_t> wide_box(box.begin(), box.end());
    device.copy_to(device.symbol(module, "tables"), tables.data(), tables.size() * sizeof(std::uint32_t));
    device.copy_to(device.symbol(module, "box"), wide_box.data(), wide_box.size() * sizeof(std::uint32_t));
    const LinearTexture<std::uint32_t> round_keys(device, {texture::ChannelKind::kUnsigned, 32, 1},
                                                  words_of(keys));
    const DeviceArray<std::uint8_t> in(device, text), out(device, text.size());
    device.launch(module, kernel_of(module, code), {blocks_for(blocks * 4, kThreads), 1, 1}, {kThreads, 1, 1},
                  runtime::Arguments().add(in.address()).add(out.address()).add(round_keys.object()));
    device.synchronise();
    for (std::size_t block = 0; block < blocks; ++block) encrypt(text.data() + block * kBytes, keys, box);
    std::copy(example.begin(), example.end(), text.begin());
    return compare_equal("bytes", out.read(), text);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<Aes>();
}

}  // namespace weft::workloads::aes
