// The reader of GDB's packets: whole packets in any portions, damaged ones, and bytes that are none.
#include "debugger/packets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace weft::debugger {
namespace packets_test {

using ::testing::ElementsAre;
using Kind = PacketEvent::Kind;

std::vector<PacketEvent> events_of(const std::string& bytes, std::size_t portion = SIZE_MAX) {
  PacketReader reader;
  std::vector<PacketEvent> events;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t count = std::min(portion, bytes.size() - at);
    reader.feed(bytes.data() + at, count);
    at += count;
    for (PacketEvent event; reader.next(event);) events.push_back(event);
  }
  return events;
}

std::vector<std::string> payloads_of(const std::string& bytes, std::size_t portion = SIZE_MAX) {
  std::vector<std::string> payloads;
  for (const PacketEvent& event : events_of(bytes, portion))
    payloads.push_back(event.kind == Kind::kPacket ? event.payload : "?");
  return payloads;
}

TEST(Packets, ComeInAnyPortions) {
  const std::string bytes = packet_of("qSupported") + "+" + packet_of("m1000,4") + "\x03";
  for (const std::size_t portion : {1, 2, 3, 7, 100})
    EXPECT_THAT(payloads_of(bytes, portion), ElementsAre("qSupported", "?", "m1000,4", "?")) << portion;
}

// The checksum of the manual's example, and one that is wrong in its last digit.
TEST(Packets, HaveAChecksum) {
  EXPECT_EQ(packet_of("OK"), "$OK#9a");
  EXPECT_EQ(events_of("$OK#9a")[0].kind, Kind::kPacket);
  EXPECT_EQ(events_of("$OK#9A")[0].kind, Kind::kPacket);
  EXPECT_EQ(events_of("$OK#9b")[0].kind, Kind::kDamaged);
  EXPECT_EQ(events_of("$OK#zz")[0].kind, Kind::kDamaged);
}

TEST(Packets, CarryAnyBytes) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_THAT(payloads_of(packet_of(all)), ElementsAre(all));
}

TEST(Packets, EndWithTheNextOneIfTheirEndIsLost) {
  EXPECT_THAT(payloads_of("$m1000" + packet_of("?")), ElementsAre("?"));
  EXPECT_EQ(events_of("$m1000" + packet_of("?"))[0].kind, Kind::kPacket);
}

TEST(Packets, AreNotLongerThanSaid) {
  const std::string most(PacketReader::kMostBytes, 'a');
  EXPECT_THAT(payloads_of(packet_of(most)), ElementsAre(most));
  const auto events = events_of(packet_of(most + "a") + packet_of("?"));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, Kind::kDamaged);
  EXPECT_EQ(events[1].payload, "?");
}

TEST(Packets, InterruptAndAcknowledgeBetweenThem) {
  std::vector<Kind> kinds;
  for (const PacketEvent& event : events_of("+-\x03 ")) kinds.push_back(event.kind);
  EXPECT_THAT(kinds, ElementsAre(Kind::kAccepted, Kind::kRepeat, Kind::kInterrupt));
}

// Whatever comes, a good packet behind it arrives.
TEST(Packets, ComeThroughNoise) {
  std::mt19937 random(7);
  const std::string letters = "$#}*+-\x03 abc019Zz";
  for (int round = 0; round < 2000; ++round) {
    std::string noise;
    for (std::size_t i = random() % 40; i > 0; --i) noise += letters[random() % letters.size()];
    // Two of them: the noise may take the first one's beginning as its own end.
    const auto events = events_of(noise + packet_of("x") + packet_of("qC"), 1 + random() % 5);
    ASSERT_FALSE(events.empty()) << noise;
    EXPECT_EQ(events.back().kind, Kind::kPacket) << noise;
    EXPECT_EQ(events.back().payload, "qC") << noise;
  }
}

TEST(Packets, NumbersAreHexadecimal) {
  std::string_view text = "1F,x";
  std::uint64_t number = 0;
  EXPECT_TRUE(take_number(text, number));
  EXPECT_EQ(number, 31u);
  EXPECT_EQ(text, ",x");
  EXPECT_FALSE(take_number(text, number));
  for (const char* wrong : {"", "g", "10000000000000000"}) {
    text = wrong;
    EXPECT_FALSE(take_number(text, number)) << wrong;
  }
  std::string bytes;
  EXPECT_TRUE(from_hex("00ff", bytes));
  EXPECT_EQ(to_hex(bytes), "00ff");
  EXPECT_FALSE(from_hex("0", bytes));
  EXPECT_FALSE(from_hex("0g", bytes));
}

}  // namespace packets_test
}  // namespace weft::debugger
