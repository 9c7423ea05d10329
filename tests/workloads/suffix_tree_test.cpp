// What the aligners' host sides stand on: the suffix tree, against the definition; its texels, against the
// tree; the oracle of longest matches, against trying every place.
#include "workloads/mummer_gpu/suffix_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "workloads/mummer_gpu/packed_tree.h"

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

// Seed 0: one base repeated, the deepest tree there is.
Bases genome_of(std::uint32_t seed) {
  return seed == 0 ? Bases(60, 2) : random_genome(700, seed);
}

void expect_each_suffix_once_and_links(const SuffixTree& tree) {
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

TEST_P(OfGenomes, TreeHasEachSuffixOnceAndItsLinks) {
  expect_each_suffix_once_and_links(SuffixTree(genome_of(GetParam())));
  expect_each_suffix_once_and_links(SuffixTree(genome_of(GetParam()), SuffixTree::Order::kInBlocks));
}

// Field and last byte of a texel, byte by byte.
std::uint32_t byte_of(const PackedTree::Texel& texel, std::uint32_t at) {
  return texel[at / 4] >> at % 4 * 8 & 0xFF;
}
std::uint32_t field_of(const PackedTree::Texel& texel, std::uint32_t field) {
  return byte_of(texel, 3 * field) | byte_of(texel, 3 * field + 1) << 8 | byte_of(texel, 3 * field + 2) << 16;
}
// The address in a field: low bytes of column and row, then the upper four bits of both.
std::uint32_t address_in(const PackedTree::Texel& texel, std::uint32_t field) {
  const std::uint32_t x = byte_of(texel, 3 * field), y = byte_of(texel, 3 * field + 1);
  const std::uint32_t upper = byte_of(texel, 3 * field + 2);
  return (x | (upper & 0xF) << 8) | (y | (upper >> 4) << 8) << 16;
}

TEST_P(OfGenomes, TexelsHoldTheTree) {
  const SuffixTree tree(genome_of(GetParam()), SuffixTree::Order::kInBlocks);
  const PackedTree packed(tree);
  const auto address = [](std::uint32_t id) {
    return id == SuffixTree::kNone ? 0 : PackedTree::address_of(id);
  };
  for (std::uint32_t id = SuffixTree::kRoot; id < tree.nodes().size(); ++id) {
    const auto& node = tree.nodes()[id];
    const std::size_t at = std::size_t{address(id) >> 16} * PackedTree::kWidth + (address(id) & 0xFFFF);
    const PackedTree::Texel &of_node = packed.nodes[at], &of_children = packed.children[at];
    const bool leaf = (node.link & SuffixTree::kLeaf) != 0;
    EXPECT_EQ(address_in(of_node, 0), address(tree.ups()[id].parent));
    EXPECT_EQ(address_in(of_node, 1), leaf ? 0 : address(node.link));
    EXPECT_EQ(field_of(of_node, 2), node.begin);
    EXPECT_EQ(field_of(of_node, 3), node.end);
    EXPECT_EQ(field_of(of_node, 4), node.depth);
    EXPECT_EQ(byte_of(of_children, 15), leaf ? 1u : 0u);
    if (leaf) {
      EXPECT_EQ(field_of(of_children, 0), node.link & ~SuffixTree::kLeaf);
      continue;
    }
    for (std::uint32_t base = 0; base < 4; ++base) {
      EXPECT_EQ(address_in(of_children, base), address(node.children[base]));
    }
    EXPECT_EQ(address_in(of_children, 4), address(tree.ups()[id].ended));
  }
}

TEST(PackedTree, NumbersGoDownColumnsAndNoTwoMeet) {
  EXPECT_EQ(PackedTree::address_of(1), 0x10000u);
  EXPECT_EQ(PackedTree::address_of(31), 31u << 16);
  EXPECT_EQ(PackedTree::address_of(32), 1u);
  EXPECT_EQ(PackedTree::address_of(PackedTree::kWidth * 32), 32u << 16) << "the next band";
  std::set<std::uint32_t> all;
  for (std::uint32_t id = 0; id < (1u << 18) + 100; ++id) all.insert(PackedTree::address_of(id));
  EXPECT_EQ(all.size(), (1u << 18) + 100);
  EXPECT_EQ(PackedTree::address_of((1u << 23) - 1) >> 16, 2047u) << "the largest tree has rows of 12 bits";
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
