#include "workloads/mummer_gpu/packed_tree.h"

namespace weft::workloads {
namespace {

constexpr std::uint32_t kColumn = 32;  // texels that consecutive nodes go down
constexpr std::uint32_t kBand = PackedTree::kWidth * kColumn;

// 12 bits each of column and row: the low bytes first, both upper halves in the third byte.
std::uint32_t bytes_of(std::uint32_t address) {
  const std::uint32_t x = address & 0xFFFF, y = address >> 16;
  return (x & 0xFF) | (y & 0xFF) << 8 | (x >> 8) << 16 | (y >> 8) << 20;
}

std::uint32_t bytes_of_node(std::uint32_t node) {
  return node == SuffixTree::kNone ? 0 : bytes_of(PackedTree::address_of(node));
}

PackedTree::Texel texel_of(const std::array<std::uint32_t, 5>& fields, std::uint32_t last) {
  PackedTree::Texel texel{};
  const auto set_byte = [&](std::uint32_t at, std::uint32_t value) {
    texel[at / 4] |= (value & 0xFF) << at % 4 * 8;
  };
  for (std::uint32_t field = 0; field < fields.size(); ++field) {
    for (std::uint32_t byte = 0; byte < 3; ++byte) set_byte(3 * field + byte, fields[field] >> 8 * byte);
  }
  set_byte(15, last);
  return texel;
}

}  // namespace

std::uint32_t PackedTree::address_of(std::uint32_t node) {
  const std::uint32_t x = node % kBand / kColumn, y = node / kBand * kColumn + node % kColumn;
  return x | y << 16;
}

PackedTree::PackedTree(const SuffixTree& tree) {
  const auto count = static_cast<std::uint32_t>(tree.nodes().size());
  const std::size_t texels = std::size_t{(count + kBand - 1) / kBand} * kBand;
  nodes.resize(texels);
  children.resize(texels);
  for (std::uint32_t id = SuffixTree::kRoot; id < count; ++id) {
    const auto& node = tree.nodes()[id];
    const auto& up = tree.ups()[id];
    const bool leaf = (node.link & SuffixTree::kLeaf) != 0;
    const std::uint32_t address = address_of(id);
    const std::size_t at = std::size_t{address >> 16} * kWidth + (address & 0xFFFF);
    nodes[at] = texel_of(
        {bytes_of_node(up.parent), leaf ? 0 : bytes_of_node(node.link), node.begin, node.end, node.depth}, 0);
    children[at] = leaf ? texel_of({node.link & ~SuffixTree::kLeaf}, 1)
                        : texel_of({bytes_of_node(node.children[0]), bytes_of_node(node.children[1]),
                                    bytes_of_node(node.children[2]), bytes_of_node(node.children[3]),
                                    bytes_of_node(up.ended)},
                                   0);
  }
}

}  // namespace weft::workloads
