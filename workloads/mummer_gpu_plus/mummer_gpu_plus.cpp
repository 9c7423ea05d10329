#include <optional>

#include "weft/common/error.h"
#include "workloads/mummer_gpu/genome.h"
#include "workloads/texture.h"

namespace weft::workloads::mummer_gpu_plus {
namespace {

constexpr texture::Format kWord{texture::ChannelKind::kSigned, 32, 1};
constexpr texture::Format kByte{texture::ChannelKind::kUnsigned, 8, 1};

struct Found {
  std::int32_t length = -1, suffix = 0;  // the latter: where in the suffix array
};

// Suffix array and reference on the device, in textures or in arrays; the kernels take either in the same
// places.
class DeviceIndex {
 public:
  DeviceIndex(runtime::Device& device, const std::vector<std::uint32_t>& suffixes, const Bases& genome,
              bool textures) {
    if (textures) {
      suffix_texture_.emplace(device, kWord, suffixes);
      reference_texture_.emplace(device, kByte, genome);
    } else {
      suffixes_.emplace(device, suffixes);
      reference_.emplace(device, genome);
    }
  }
  bool textures() const { return !suffixes_; }
  std::uint64_t suffixes() const { return suffixes_ ? suffixes_->address() : suffix_texture_->object(); }
  std::uint64_t reference() const { return suffixes_ ? reference_->address() : reference_texture_->object(); }

 private:
  std::optional<LinearTexture<std::uint32_t>> suffix_texture_;
  std::optional<LinearTexture<std::uint8_t>> reference_texture_;
  std::optional<DeviceArray<std::uint32_t>> suffixes_;
  std::optional<DeviceArray<std::uint8_t>> reference_;
};

class MummerGpuPlus : public Workload {
 public:
  std::string name() const override { return "mummer_gpu_plus"; }
  std::string summary() const override {
    return "DNA reads matched through a suffix array: divergence, binary searches";
  }
  std::vector<Option> options() const override {
    return {{"reference", 16, 1u << 22, 1, "bases of the reference"},
            {"reads", 1, 1u << 18, 1, "reads, one a thread"},
            {"length", 4, 256, 1, "bases of a read"},
            {"least", 4, 256, 1, "bases of the shortest match looked for"},
            {"block", 1, 512, 1, "threads of a block"},
            {"present", 0, 100, 1, "percent of the reads that are pieces of the reference"},
            {"textures", 0, 1, 1, "1: suffix array and reference lie in textures; 0: in global memory"},
            {"unrolled", 0, 1, 1,
             "without textures, 1: the comparison of bases stands 26 times in the code; 0: once"},
            {"seed", 0, UINT32_MAX, 1, "of reference and reads"}};
  }
  std::map<std::string, Size> sizes() const override {
    const Size paper{{"reference", 1'400'000}, {"reads", 50'000}, {"length", 25},  {"least", 24},
                     {"block", 256},           {"present", 27},   {"textures", 0}, {"unrolled", 0},
                     {"seed", 12345}};
    const auto with = [&](const Size& changes) {
      Size size = paper;
      for (const auto& [option, value] : changes) size[option] = value;
      return size;
    };
    const Size one_block = with({{"reads", 256}, {"least", 25}});
    return {{"small", with({{"reference", 3'000},
                            {"reads", 300},
                            {"length", 24},
                            {"least", 20},
                            {"present", 60},
                            {"textures", 1}})},
            {"default", with({{"reference", 200'000}, {"reads", 10'000}, {"least", 20}, {"textures", 1}})},
            {"large", with({{"reads", 200'000}, {"least", 20}, {"textures", 1}})},
            {"dwr", paper},
            {"crown", paper},
            {"crown_small", one_block},
            {"harp", one_block}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"dwr", {"sm.registers_per_thread=32"}}, {"crown", {"sm.registers_per_thread=32"}}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const auto value = [&](const char* option) { return static_cast<std::uint32_t>(values.at(option)); };
    const std::uint32_t reads = value("reads"), length = value("length"), least = value("least");
    if (least > length) {
      throw InputError("mummer_gpu_plus", "least: found " + std::to_string(least) +
                                              "; allowed: at most length, " + std::to_string(length));
    }
    takes_no_kernel(code);
    const std::uint32_t starts = length - least + 1;
    const Bases genome = random_genome(value("reference"), value("seed"));
    const Bases text = random_reads(genome, reads, length, value("present"), value("seed") + 1);
    const std::vector<std::uint32_t> suffixes = suffix_array(genome);

    auto& module = device.load_module(code.ptx, code.file);
    const DeviceIndex index(device, suffixes, genome, value("textures") != 0);
    const DeviceArray<std::uint8_t> device_reads(device, text);
    const DeviceArray<Found> matches(device, std::vector<Found>(std::size_t{reads} * starts));
    const std::uint32_t block = value("block");
    const char* kernel = index.textures()         ? "match_reads"
                         : value("unrolled") == 1 ? "match_reads_unrolled"
                                                  : "match_reads_in_arrays";
    device.launch(module, kernel, {blocks_for(reads, block), 1, 1}, {block, 1, 1},
                  runtime::Arguments()
                      .add(index.suffixes())
                      .add(index.reference())
                      .add(static_cast<std::int32_t>(genome.size()))
                      .add(device_reads.address())
                      .add(static_cast<std::int32_t>(reads))
                      .add(static_cast<std::int32_t>(length))
                      .add(static_cast<std::int32_t>(least))
                      .add(matches.address()));
    device.synchronise();

    const std::vector<Found> got = matches.read();
    LongestMatch want;
    return compare(
        "matches", got.size(),
        [&](std::size_t i) {
          const auto start = static_cast<std::uint32_t>(i % starts);
          const std::uint8_t* from = text.data() + i / starts * length + start;
          want = longest_match(genome, suffixes, from, length - start);
          const auto suffix = static_cast<std::uint32_t>(got[i].suffix);
          return got[i].length == static_cast<std::int32_t>(want.length) &&
                 (want.length == 0 || (suffix >= want.first && suffix < want.last));
        },
        [&](std::size_t i) {
          return "read " + std::to_string(i / starts) + " from " + std::to_string(i % starts) + ": got " +
                 std::to_string(got[i].length) + " bases at suffix " + std::to_string(got[i].suffix) +
                 ", want " + std::to_string(want.length) + " at suffixes " + std::to_string(want.first) +
                 " to before " + std::to_string(want.last);
        });
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<MummerGpuPlus>();
}

}  // namespace weft::workloads::mummer_gpu_plus
