// The policies of replacement by what they evict, beside the lists of reference_cache.h.
#include "weft/cache/replacement.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <utility>
#include <vector>

#include "cache/tag_array.h"
#include "common/config_reader.h"
#include "weft/common/error.h"

namespace weft::cache {
namespace {

TagConfig one_set(const std::string& replacement, std::uint64_t ways) {
  TagConfig config;
  config.sets = 1;
  config.ways = ways;
  config.line_bytes = 64;
  config.replacement.name = replacement;
  return config;
}

// Brings lines that are absent, and says what was evicted.
std::vector<Line> evicted_by(TagArray& tags, const std::vector<Line>& lines) {
  std::vector<Line> evicted;
  for (const Line line : lines) {
    if (tags.access(line) != LineState::kInvalid) continue;
    const TagArray::Victim victim = tags.reserve(line);
    if (victim.evicted) evicted.push_back(victim.line);
    tags.fill(line);
  }
  return evicted;
}

// Jaleel et al. 2010, figure 6: with two bits, a mixed access pattern of lines a1, a2 that are used again and
// lines b1 ... b4 of a scan. The scan evicts its own lines; a1 and a2 stay.
TEST(Srrip, KeepsWhatIsUsedAgainThroughAScan) {
  TagArray tags(one_set("srrip", 4));
  const Line a1 = 1, a2 = 2, b1 = 11, b2 = 12, b3 = 13, b4 = 14;
  EXPECT_TRUE(evicted_by(tags, {a1, a2, a2, a1, b1, b2}).empty());
  EXPECT_EQ(evicted_by(tags, {b3, b4}), (std::vector<Line>{b1, b2}));
  EXPECT_TRUE(evicted_by(tags, {a1, a2}).empty());
  TagArray lru(one_set("lru", 4));
  EXPECT_EQ(evicted_by(lru, {a1, a2, a2, a1, b1, b2, b3, b4, a1, a2}), (std::vector<Line>{a2, a1, b1, b2}));
}

// The rules as the paper has them, step by step: all lines of the set age until one is distant.
class SrripRules {
 public:
  SrripRules(std::size_t ways, unsigned bits) : ways_(ways), distant_((1u << bits) - 1) {}
  // What is evicted for this line; 0: nothing.
  Line use(Line line) {
    for (auto& [held, prediction] : lines_) {
      if (held == line) return prediction = 0, 0;
    }
    if (lines_.size() < ways_) return lines_.emplace_back(line, distant_ - 1), 0;
    for (;; age()) {
      for (auto& [held, prediction] : lines_) {
        if (prediction != distant_) continue;
        const Line victim = held;
        held = line;
        prediction = distant_ - 1;
        return victim;
      }
    }
  }

 private:
  void age() {
    for (auto& [held, prediction] : lines_) ++prediction;
  }
  const std::size_t ways_;
  const unsigned distant_;
  std::vector<std::pair<Line, unsigned>> lines_;
};

TEST(Srrip, DoesWhatItsRulesSay) {
  for (const unsigned bits : {1u, 2u, 3u}) {
    TagConfig config = one_set("srrip", 6);
    config::load(config, nlohmann::json{{"srrip_bits", bits}}, "f.json");
    SrripRules rules(6, bits);
    TagArray tags(config);
    std::mt19937 random(bits);
    unsigned evictions = 0;
    for (int i = 0; i < 10'000; ++i) {
      const Line line = 1 + random() % (4 + bits * 5);
      const std::vector<Line> evicted = evicted_by(tags, {line});
      const Line expected = rules.use(line);
      ASSERT_EQ(evicted.empty() ? 0 : evicted[0], expected) << i;
      evictions += evicted.empty() ? 0 : 1;
    }
    EXPECT_GT(evictions, 1000u);
  }
}

// Lines at a distance of as many as there are sets lie in different ones, as long as the bits above differ.
TEST(SetIndex, XorSpreadsPowersOfTwo) {
  TagConfig config = one_set("lru", 1);
  config.sets = 16;
  config.set_index.name = "xor";
  EXPECT_NO_THROW(config.check("c"));
  TagArray tags(config);
  std::vector<Line> lines;
  for (Line line = 0; line < 256; line += 16) lines.push_back(line);
  EXPECT_TRUE(evicted_by(tags, lines).empty());
  config.sets = 12;
  EXPECT_THROW(config.check("c"), InputError);
}

}  // namespace
}  // namespace weft::cache
