#include "common/error.h"
#include "workloads/mummer_gpu/genome.h"
#include "workloads/texture.h"

namespace weft::workloads {
namespace {

constexpr texture::Format kWord{texture::ChannelKind::kSigned, 32, 1};
constexpr texture::Format kByte{texture::ChannelKind::kUnsigned, 8, 1};

struct Found {
  std::int32_t length = -1, suffix = 0;  // the latter: where in the suffix array
};

class MummerGpuPlus : public Workload {
 public:
  std::string name() const override { return "mummer_gpu_plus"; }
  std::string summary() const override {
    return "DNA reads matched through a suffix array in textures: divergence, binary searches";
  }
  std::vector<Option> options() const override {
    return {{"reference", 16, 1u << 22, 1, "bases of the reference"},
            {"reads", 1, 1u << 18, 1, "reads, one a thread"},
            {"length", 4, 256, 1, "bases of a read"},
            {"least", 4, 256, 1, "bases of the shortest match looked for"},
            {"block", 1, 512, 1, "threads of a block"},
            {"seed", 0, UINT32_MAX, 1, "of reference and reads"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t reference, std::uint64_t reads, std::uint64_t length) {
      return Size{{"reference", reference}, {"reads", reads}, {"length", length}, {"least", 20},
                  {"block", 256},           {"seed", 12345}};
    };
    Size big = size(20'000, 50'000, 25), one_block = size(20'000, 256, 25);
    big["least"] = 23, one_block["least"] = 25;
    return {{"small", size(3'000, 300, 24)},
            {"default", size(20'000, 10'000, 25)},
            {"large", size(1'000'000, 200'000, 25)},
            {"dwr", big},
            {"crown", big},
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
    const std::uint32_t starts = length - least + 1;
    const Bases genome = random_genome(value("reference"), value("seed"));
    const Bases text = random_reads(genome, reads, length, value("seed") + 1);
    const std::vector<std::uint32_t> suffixes = suffix_array(genome);

    auto& module = device.load_module(code.ptx, code.file);
    const LinearTexture<std::uint32_t> device_suffixes(device, kWord, suffixes);
    const LinearTexture<std::uint8_t> reference(device, kByte, genome);
    const DeviceArray<std::uint8_t> device_reads(device, text);
    const DeviceArray<Found> matches(device, std::vector<Found>(std::size_t{reads} * starts));
    const std::uint32_t block = value("block");
    device.launch(module, kernel_of(module, code), {blocks_for(reads, block), 1, 1}, {block, 1, 1},
                  runtime::Arguments()
                      .add(device_suffixes.object())
                      .add(reference.object())
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

std::unique_ptr<Workload> make_mummer_gpu_plus() {
  return std::make_unique<MummerGpuPlus>();
}

}  // namespace weft::workloads
