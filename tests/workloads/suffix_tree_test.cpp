// What the aligners' host sides stand on: the suffix tree, against the definition; the oracle of longest
// matches, against trying every place.
#include "workloads/mummer_gpu/suffix_tree.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::workloads {
namespace {

// The bases from the root to a node: those before the end of its edge.
Bases label_of(const SuffixTree& tree, std::uint32_t id) {
  const auto& node = tree.nodes()[id];
  return {tree.text().begin() + node.end - node.depth, tree.text().begin() + node.end};
}

std::vector<std::uint32_t> children_of(const SuffixTree& tree, std::uint32_t id) {
  std::vector<std::uint32_t> all(tree.nodes()[id].children.begin(), tree.nodes()[id].children.end());
  all.push_back(tree.ups()[id].ended);
  all.erase(std::remove(all.begin(), all.end(), SuffixTree::kNone), all.end());
  return all;
}

class OfGenomes : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(OfGenomes, TreeHasEachSuffixOnceAndItsLinks) {
  // Seed 0: one base repeated, the deepest tree there is.
  const Bases genome = GetParam() == 0 ? Bases(60, 2) : random_genome(700, GetParam());
  const SuffixTree tree(genome);
  std::vector<int> leaves(tree.text().size(), 0);
  for (std::uint32_t id = SuffixTree::kRoot; id < tree.nodes().size(); ++id) {
    const auto& node = tree.nodes()[id];
    const Bases label = label_of(tree, id);
    const auto children = children_of(tree, id);
    if ((node.link & SuffixTree::kLeaf) != 0) {
      const std::uint32_t begins = node.link & ~SuffixTree::kLeaf;
      EXPECT_TRUE(children.empty());
      EXPECT_EQ(label, Bases(tree.text().begin() + begins, tree.text().end()));
      ++leaves[begins];
      continue;
    }
    EXPECT_GE(children.size(), id == SuffixTree::kRoot ? 1u : 2u) << "an inner node branches";
    for (const std::uint32_t child : children) {
      EXPECT_EQ(tree.ups()[child].parent, id);
      const Bases longer = label_of(tree, child);
      ASSERT_GT(longer.size(), label.size());
      EXPECT_TRUE(std::equal(label.begin(), label.end(), longer.begin()));
      const std::uint8_t first = longer[label.size()];
      EXPECT_EQ(first == kTerminator ? tree.ups()[id].ended : node.children[first], child);
    }
    if (id != SuffixTree::kRoot) {
      EXPECT_EQ(label_of(tree, node.link), Bases(label.begin() + 1, label.end())) << "suffix link of " << id;
    }
  }
  EXPECT_EQ(leaves, std::vector<int>(tree.text().size(), 1));
}

TEST_P(OfGenomes, LongestMatchesAreThoseOfTryingEveryPlace) {
  const Bases genome = random_genome(300, GetParam() + 1);
  const auto suffixes = suffix_array(genome);
  constexpr std::uint32_t kReads = 40, kLength = 30;
  const Bases reads = random_reads(genome, kReads, kLength, 80, GetParam());
  for (std::uint32_t read = 0; read < kReads; ++read) {
    const auto* text = reads.data() + read * kLength;
    std::vector<std::uint32_t> places;
    std::uint32_t longest = 0;
    for (std::uint32_t place = 0; place < genome.size(); ++place) {
      std::uint32_t along = 0;
      while (along < kLength && place + along < genome.size() && genome[place + along] == text[along])
        ++along;
      if (along > longest) longest = along, places.clear();
      if (along == longest) places.push_back(place);
    }
    const LongestMatch match = longest_match(genome, suffixes, text, kLength);
    ASSERT_EQ(match.length, longest);
    std::vector<std::uint32_t> found(suffixes.begin() + match.first, suffixes.begin() + match.last);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, places);
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, OfGenomes, ::testing::Range(0u, 6u));

TEST(Genomes, HaveTheirLengthAndRepeats) {
  const Bases genome = random_genome(20'000, 1);
  EXPECT_EQ(genome.size(), 20'000u);
  EXPECT_LT(*std::max_element(genome.begin(), genome.end()), kTerminator);
  // Two random places of 20,000 agree in 14 or 15 bases at most, as a rule; copies agree in longer pieces.
  const auto suffixes = suffix_array(genome);
  std::size_t longest = 0;
  for (std::size_t i = 1; i < suffixes.size(); ++i) {
    const auto a = genome.begin() + suffixes[i - 1], b = genome.begin() + suffixes[i];
    const auto length = std::min(genome.end() - a, genome.end() - b);
    longest = std::max<std::size_t>(longest, std::mismatch(a, a + length, b).first - a);
  }
  EXPECT_GT(longest, 30u);
}

}  // namespace
}  // namespace weft::workloads
