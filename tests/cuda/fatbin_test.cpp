#include "runtime/cuda/fatbin/fatbin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "runtime/cuda/fatbin/fatbin_writer.h"
#include "weft/common/error.h"

namespace weft::cuda {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;
using Kind = FatbinEntry::Kind;
using Packing = FatbinEntry::Packing;

void put(Bytes& bytes, std::size_t at, std::uint64_t value, unsigned size) {
  if (bytes.size() < at + size) bytes.resize(at + size);
  std::memcpy(bytes.data() + at, &value, size);
}

// By hand, after the layout in fatbin.h: one PTX entry.
Bytes by_hand(const std::string& payload, std::uint64_t flags, std::uint64_t stored, std::uint64_t unpacked) {
  Bytes bytes;
  put(bytes, 0, 0xBA55ED50, 4);
  put(bytes, 4, 1, 2);
  put(bytes, 6, 16, 2);
  put(bytes, 8, 64 + payload.size(), 8);
  put(bytes, 16, 1, 2);
  put(bytes, 18, 0x101, 2);
  put(bytes, 20, 64, 4);
  put(bytes, 24, payload.size(), 8);
  put(bytes, 32, stored, 4);
  put(bytes, 44, 75, 4);
  put(bytes, 56, flags, 8);
  put(bytes, 72, unpacked, 8);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

std::string text_of(const Bytes& bytes, unsigned capability = 75, const FatbinLimits& limits = {}) {
  return ptx_of(choose_ptx(read_fatbin(bytes.data(), bytes.size(), "t", limits), capability, "t"), "t",
                limits);
}

std::string message(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Fatbin, PlainTextWithoutItsPadding) {
  const Bytes bytes = by_hand(std::string(".version 9.0\n\0\0\0", 16), 0x11, 0, 0);
  EXPECT_EQ(text_of(bytes), ".version 9.0\n");
  EXPECT_EQ(fatbin_bytes(bytes.data(), "t"), bytes.size());
}

// An LZ4 block by hand: 4 literals "abcd", a match of 8 at distance 4, 5 literals "efghi" (the block's rules
// want the last 5 bytes literal). Token: literals << 4 | match - 4.
TEST(Fatbin, Lz4BlockByHand) {
  const std::string block{'\x44', 'a', 'b', 'c', 'd', '\x04', '\x00', '\x50', 'e', 'f', 'g', 'h', 'i'};
  EXPECT_EQ(text_of(by_hand(block, 0x2011, block.size(), 17)), "abcdabcdabcdefghi");
}

// A zstd frame by hand (RFC 8878): magic number, one segment of 5 bytes, one raw block, the last, of 5 bytes.
TEST(Fatbin, ZstdFrameByHand) {
  const std::string frame{'\x28', '\xb5', '\x2f', '\xfd', '\x20', '\x05', '\x29',
                          '\x00', '\x00', 'h',    'e',    'l',    'l',    'o'};
  EXPECT_EQ(text_of(by_hand(frame + std::string(2, '\0'), 0x8011, frame.size(), 5)), "hello");
}

TEST(Fatbin, ThePackerIsReadBack) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "add.s32 %r" + std::to_string(i % 97) + ", %r1, %r2;\n";
  for (const Packing packing : {Packing::kPlain, Packing::kLz4, Packing::kZstd}) {
    const Bytes bytes = write_fatbin({{Kind::kPtx, packing, 75, text}});
    EXPECT_EQ(text_of(bytes), text);
    EXPECT_EQ(bytes.size() < text.size() / 2, packing != Packing::kPlain);
  }
}

TEST(Fatbin, TheHighestArchitectureThatTheMachineHas) {
  const Bytes bytes = write_fatbin({{Kind::kElf, Packing::kPlain, 90, "elf"},
                                    {Kind::kPtx, Packing::kPlain, 90, "ninety"},
                                    {Kind::kPtx, Packing::kPlain, 60, "sixty"},
                                    {Kind::kPtx, Packing::kPlain, 75, "seventy-five"}});
  EXPECT_EQ(text_of(bytes, 75), "seventy-five");
  EXPECT_EQ(text_of(bytes, 74), "sixty");
  EXPECT_EQ(text_of(bytes, 100), "ninety");
  EXPECT_EQ(text_of(bytes, 50), "sixty");  // none fits: the one that asks for least
}

TEST(Fatbin, MachineCodeOnlyNamesTheRemedy) {
  const Bytes bytes =
      write_fatbin({{Kind::kElf, Packing::kPlain, 80, "elf"}, {Kind::kElf, Packing::kPlain, 75, "elf"}});
  const std::string said = message([&] { text_of(bytes); });
  EXPECT_THAT(said, HasSubstr("sm_75, sm_80 and no PTX"));
  EXPECT_THAT(said, HasSubstr("nvcc -gencode arch=compute_75,code=compute_75"));
}

TEST(Fatbin, SizesThatDoNotFitAreRefused) {
  const Bytes good = by_hand("text", 0x11, 0, 0);
  const auto with = [&](std::size_t at, std::uint64_t value, unsigned size) {
    Bytes bytes = good;
    put(bytes, at, value, size);
    return message([&] { text_of(bytes); });
  };
  EXPECT_THAT(with(0, 0xBA55ED51, 4), HasSubstr("not a fat binary"));
  EXPECT_THAT(with(6, 8, 2), HasSubstr("the header of the fat binary names"));
  EXPECT_THAT(with(8, good.size(), 8), HasSubstr("found 84"));  // 16 more than there are
  EXPECT_THAT(with(8, UINT64_MAX, 8), HasSubstr("allowed: up to 1073741824"));
  Bytes tail = good;
  put(tail, 8, 70, 8);
  tail.resize(16 + 70);
  EXPECT_THAT(message([&] { text_of(tail); }), HasSubstr("entry 1 of the fat binary is cut off"));
  EXPECT_THAT(with(20, 63, 4), HasSubstr("entry 0"));
  EXPECT_THAT(with(20, 69, 4), HasSubstr("entry 0"));
  EXPECT_THAT(with(24, UINT64_MAX - 70, 8), HasSubstr("entry 0"));
  EXPECT_THAT(message([&] { read_fatbin(good.data(), 15, "t"); }), HasSubstr("at least 16 bytes"));
  EXPECT_THAT(message([&] { text_of(by_hand("text", 0x2011, 5, 100)); }), HasSubstr("5 compressed bytes"));
}

TEST(Fatbin, LimitsHold) {
  FatbinLimits limits;
  limits.entries = 2;
  const FatbinSource source{Kind::kPtx, Packing::kPlain, 75, "t"};
  EXPECT_EQ(text_of(write_fatbin({source, source}), 75, limits), "t");
  EXPECT_THAT(message([&] { text_of(write_fatbin({source, source, source}), 75, limits); }),
              HasSubstr("more than 2 entries"));
  // A bomb: few bytes that become many. What it says it becomes is checked before; what it does become, then.
  const std::string zeros(1 << 20, 'x');
  limits.ptx_bytes = (1 << 20) - 1;
  const Bytes bomb = write_fatbin({{Kind::kPtx, Packing::kZstd, 75, zeros}});
  ASSERT_LT(bomb.size(), 1000u);
  EXPECT_THAT(message([&] { text_of(bomb, 75, limits); }), HasSubstr("allowed: up to 1048575"));
  Bytes liar = bomb;
  put(liar, 72, 1000, 8);
  EXPECT_THAT(message([&] { text_of(liar); }), HasSubstr("cannot be decompressed"));
  put(liar, 72, (1 << 20) + 1, 8);
  EXPECT_THAT(message([&] { text_of(liar); }), HasSubstr("decompresses to 1048576"));
}

// Damaged fat binaries are refused or read, but nothing beyond their bytes is touched (the sanitized build
// looks).
TEST(Fatbin, DamageNeverReachesBeyondTheBytes) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "mov.u32 %r" + std::to_string(i) + ", 0;\n";
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto packing = static_cast<Packing>(round % 3);
    Bytes bytes = write_fatbin({{Kind::kPtx, packing, 75, text}, {Kind::kElf, Packing::kPlain, 75, "elf"}});
    const unsigned damages = 1 + random() % 4;
    for (unsigned i = 0; i < damages; ++i)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const Bytes exact(bytes.begin(), bytes.end());  // no spare capacity behind the last byte
    refused += message([&] { text_of(exact); }) == "no error" ? 0 : 1;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 4000);
}

}  // namespace
}  // namespace weft::cuda
