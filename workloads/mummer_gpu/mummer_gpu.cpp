#include <algorithm>
#include <optional>

#include "weft/common/error.h"
#include "workloads/mummer_gpu/packed_tree.h"
#include "workloads/texture.h"

namespace weft::workloads::mummer_gpu {
namespace {

constexpr texture::Format kFourWords{texture::ChannelKind::kUnsigned, 32, 4};
constexpr texture::Format kByte{texture::ChannelKind::kUnsigned, 8, 1};
constexpr std::uint32_t kListBlock = 256;
constexpr std::uint32_t kTextureWidth = 2048;  // texels; two are a node
enum Textures : std::uint64_t { kNoTextures = 0, kTreeAndReference = 1, kTree = 2 };  // option "textures"

struct Match {
  std::uint32_t node = 0;
  std::int32_t length = -1;
};

// What the reference says about one start of one read.
struct Expected {
  LongestMatch match;
  const std::uint8_t* text = nullptr;
  std::uint32_t read = 0, start = 0;
};

struct Reads {
  std::uint64_t bases;
  const std::vector<std::int32_t>& addresses;
  std::uint32_t count, length, least;
};

// The tree and the reference on the device, in one of three layouts, each with kernels of its own.
class DeviceTree {
 public:
  DeviceTree(runtime::Device& device, const SuffixTree& tree, Textures textures)
      : device_(device), textures_(textures) {
    if (textures == kTree) {
      PackedTree packed(tree);
      node_texture_.emplace(device, kFourWords, PackedTree::kWidth, std::move(packed.nodes));
      children_texture_.emplace(device, kFourWords, PackedTree::kWidth, std::move(packed.children));
      reference_.emplace(device, tree.text());
    } else if (textures == kTreeAndReference) {
      node_texture_.emplace(device, kFourWords, kTextureWidth, texels_of(tree));
      reference_texture_.emplace(device, kByte, tree.text());
    } else {
      nodes_.emplace(device, tree.nodes());
      reference_.emplace(device, tree.text());
    }
  }

  void match(runtime::LoadedModule& module, std::uint32_t block, const Reads& reads,
             runtime::Address matches) const {
    const auto least = static_cast<std::int32_t>(reads.least), count = static_cast<std::int32_t>(reads.count);
    const auto launch = [&](const char* kernel, const runtime::Arguments& arguments) {
      device_.launch(module, kernel, {blocks_for(reads.count, block), 1, 1}, {block, 1, 1}, arguments);
      device_.synchronise();
    };
    if (packed()) {
      const DeviceArray<std::int32_t> addresses(device_, reads.addresses);
      const DeviceArray<std::int32_t> lengths(
          device_, std::vector<std::int32_t>(reads.count, static_cast<std::int32_t>(reads.length)));
      launch("match_reads", runtime::Arguments()
                                .add(node_texture_->object())
                                .add(children_texture_->object())
                                .add(reference_->address())
                                .add(reads.bases)
                                .add(addresses.address())
                                .add(lengths.address())
                                .add(count)
                                .add(least)
                                .add(matches));
      return;
    }
    launch(nodes_ ? "match_reads_in_arrays" : "match_reads_in_textures",
           runtime::Arguments()
               .add(nodes())
               .add(reference_ ? reference_->address() : reference_texture_->object())
               .add(reads.bases)
               .add(count)
               .add(static_cast<std::int32_t>(reads.length))
               .add(least)
               .add(matches));
  }

  // The packed tree has parents in its nodes, and its kernel lists where the first `least` bases occur; the
  // others read parents from `ups`, and list where all bases occur.
  bool packed() const { return textures_ == kTree; }
  void list(runtime::LoadedModule& module, runtime::Address ups, std::uint32_t least, std::uint32_t count,
            runtime::Address tops, runtime::Address offsets, runtime::Address places) const {
    const auto matches = static_cast<std::int32_t>(count);
    const auto launch = [&](const char* kernel, const runtime::Arguments& arguments) {
      device_.launch(module, kernel, {blocks_for(count, kListBlock), 1, 1}, {kListBlock, 1, 1}, arguments);
      device_.synchronise();
    };
    if (packed()) {
      launch("list_places", runtime::Arguments()
                                .add(node_texture_->object())
                                .add(children_texture_->object())
                                .add(tops)
                                .add(offsets)
                                .add(matches)
                                .add(static_cast<std::int32_t>(least))
                                .add(places));
      return;
    }
    launch(nodes_ ? "list_places_in_arrays" : "list_places_in_textures",
           runtime::Arguments().add(nodes()).add(ups).add(tops).add(offsets).add(matches).add(places));
  }

 private:
  using Texel = std::array<std::uint32_t, 4>;
  std::uint64_t nodes() const { return nodes_ ? nodes_->address() : node_texture_->object(); }
  static std::vector<Texel> texels_of(const SuffixTree& tree) {
    std::vector<Texel> texels;
    texels.reserve(2 * tree.nodes().size());
    for (const auto& node : tree.nodes()) {
      texels.push_back({node.begin, node.end, node.link, node.depth});
      texels.push_back(node.children);
    }
    return texels;
  }
  runtime::Device& device_;
  Textures textures_;
  std::optional<ArrayTexture<Texel>> node_texture_, children_texture_;
  std::optional<LinearTexture<std::uint8_t>> reference_texture_;
  std::optional<DeviceArray<SuffixTree::Node>> nodes_;
  std::optional<DeviceArray<std::uint8_t>> reference_;
};

// Each read with a terminator behind it.
Bases terminated(const Bases& reads, std::uint32_t length) {
  Bases all;
  all.reserve(reads.size() + reads.size() / length);
  for (std::size_t at = 0; at < reads.size(); at += length) {
    all.insert(all.end(), reads.begin() + static_cast<std::ptrdiff_t>(at),
               reads.begin() + static_cast<std::ptrdiff_t>(at + length));
    all.push_back(kTerminator);
  }
  return all;
}

class MummerGpu : public Workload {
 public:
  std::string name() const override { return "mummer_gpu"; }
  std::string summary() const override {
    return "DNA reads matched through a suffix tree: divergence, dependent loads or texture fetches";
  }
  std::vector<Option> options() const override {
    return {{"reference", 16, 1u << 22, 1, "bases of the reference"},
            {"reads", 1, 1u << 18, 1, "reads, one a thread"},
            {"length", 4, 256, 1, "bases of a read"},
            {"least", 4, 256, 1, "bases of the shortest match looked for"},
            {"block", 1, 512, 1, "threads of a block that matches"},
            {"list", 0, 1u << 20, 1, "matches whose places are listed by a second kernel, at most; 0: none"},
            {"present", 0, 100, 1, "percent of the reads that are pieces of the reference"},
            {"textures", 0, 2, 1,
             "2: the tree lies in textures, as Rodinia ships the program; 1: the reference, too; 0: neither"},
            {"seed", 0, UINT32_MAX, 1, "of reference and reads"}};
  }
  std::map<std::string, Size> sizes() const override {
    const Size paper{{"reference", 1'400'000}, {"reads", 50'000}, {"length", 25},  {"least", 20},
                     {"block", 256},           {"list", 0},       {"present", 27}, {"textures", 2},
                     {"seed", 12345}};
    const auto with = [&](const Size& changes) {
      Size size = paper;
      for (const auto& [option, value] : changes) size[option] = value;
      return size;
    };
    const Size one_block = with({{"reads", 100}, {"block", 100}});
    return {
        {"small", with({{"reference", 3'000}, {"reads", 200}, {"least", 8}, {"block", 128}, {"list", 600}})},
        {"default", with({{"reference", 200'000}, {"reads", 10'000}, {"list", 10'000}})},
        {"large", with({{"reads", 200'000}, {"list", 100'000}})},
        {"dwr", paper},
        {"crown", paper},
        {"crown_small", one_block},
        {"harp", with({{"reads", 100}, {"block", 100}})},
        {"stsimt", with({{"list", 80'896}})}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"dwr", {"sm.registers_per_thread=16"}},
            {"crown", {"sm.registers_per_thread=16"}},
            {"stsimt", {"sm.registers_per_thread=20"}}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    const auto value = [&](const char* option) { return static_cast<std::uint32_t>(values.at(option)); };
    const std::uint32_t reads = value("reads"), length = value("length"), least = value("least");
    if (least > length) {
      throw InputError("mummer_gpu", "least: found " + std::to_string(least) + "; allowed: at most length, " +
                                         std::to_string(length));
    }
    const std::uint32_t starts = length - least + 1;
    const Bases genome = random_genome(value("reference"), value("seed"));
    const Bases text = random_reads(genome, reads, length, value("present"), value("seed") + 1);
    const auto textures = static_cast<Textures>(values.at("textures"));
    const SuffixTree tree(genome,
                          textures == kTree ? SuffixTree::Order::kInBlocks : SuffixTree::Order::kByDepth);

    auto& module = device.load_module(code.ptx, code.file);
    const DeviceTree device_tree(device, tree, textures);
    const DeviceArray<std::uint8_t> device_reads(device, terminated(text, length));
    std::vector<std::int32_t> addresses(reads);
    for (std::uint32_t read = 0; read < reads; ++read) {
      addresses[read] = static_cast<std::int32_t>(read * (length + 1));
    }
    const DeviceArray<Match> matches(device, std::vector<Match>(std::size_t{reads} * starts));
    device_tree.match(module, value("block"), {device_reads.address(), addresses, reads, length, least},
                      matches.address());

    const std::vector<std::uint32_t> suffixes = suffix_array(genome);
    std::vector<Expected> expected;
    expected.reserve(std::size_t{reads} * starts);
    for (std::uint32_t read = 0; read < reads; ++read) {
      for (std::uint32_t start = 0; start < starts; ++start) {
        const std::uint8_t* from = text.data() + std::size_t{read} * length + start;
        expected.push_back({longest_match(genome, suffixes, from, length - start), from, read, start});
      }
    }
    const auto wanted = [&](std::size_t i) {
      const auto found = expected[i].match.length;
      return found >= least ? static_cast<std::int32_t>(found) : Match().length;  // nothing is written
    };
    const std::vector<Match> got = matches.read();
    Result result = compare(
        "matches", got.size(), [&](std::size_t i) { return got[i].length == wanted(i); },
        [&](std::size_t i) {
          return "read " + std::to_string(expected[i].read) + " from " + std::to_string(expected[i].start) +
                 ": got " + std::to_string(got[i].length) + " bases, want " + std::to_string(wanted(i)) +
                 " (-1: shorter than `least`)";
        });
    if (!result.verified || values.at("list") == 0) return result;
    return list(device, module, device_tree, tree, genome, suffixes, got, expected, least, value("list"));
  }

 private:
  // The second kernel: where the first `limit` matches that are long enough occur.
  static Result list(runtime::Device& device, runtime::LoadedModule& module, const DeviceTree& device_tree,
                     const SuffixTree& tree, const Bases& genome, const std::vector<std::uint32_t>& suffixes,
                     const std::vector<Match>& got, const std::vector<Expected>& expected,
                     std::uint32_t least, std::uint32_t limit) {
    std::vector<std::uint32_t> tops;
    std::vector<std::int32_t> offsets;
    std::vector<std::uint32_t> want;
    for (std::size_t i = 0; i < got.size() && tops.size() < limit; ++i) {
      if (expected[i].match.length < least) continue;
      const LongestMatch match =
          device_tree.packed() ? longest_match(genome, suffixes, expected[i].text, least) : expected[i].match;
      tops.push_back(got[i].node);
      offsets.push_back(static_cast<std::int32_t>(want.size()));
      want.insert(want.end(), suffixes.begin() + match.first, suffixes.begin() + match.last);
      std::sort(want.begin() + offsets.back(), want.end());
    }
    if (tops.empty()) return {true, "matches: none is long enough to be listed"};
    std::optional<DeviceArray<SuffixTree::Up>> ups;
    if (!device_tree.packed()) ups.emplace(device, tree.ups());
    const DeviceArray<std::uint32_t> device_tops(device, tops);
    const DeviceArray<std::int32_t> device_offsets(device, offsets);
    const DeviceArray<std::uint32_t> places(device, std::vector<std::uint32_t>(want.size(), UINT32_MAX));
    device_tree.list(module, ups ? ups->address() : 0, least, static_cast<std::uint32_t>(tops.size()),
                     device_tops.address(), device_offsets.address(), places.address());
    std::vector<std::uint32_t> listed = places.read();
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const auto end = i + 1 < offsets.size() ? listed.begin() + offsets[i + 1] : listed.end();
      std::sort(listed.begin() + offsets[i], end);
    }
    return compare_equal("places of " + std::to_string(tops.size()) + " matches", listed, want);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<MummerGpu>();
}

}  // namespace weft::workloads::mummer_gpu
