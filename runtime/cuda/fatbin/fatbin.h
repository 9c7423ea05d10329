// Fat binaries: what nvcc and clang embed of the device code of a program, for one or several architectures.
//
// Layout (little endian), as nvcc 7 to 13 writes it; our own packer (fatbin_writer.h) writes the same:
//   header   u32 0xBA55ED50, u16 version 1, u16 bytes of the header (16), u64 bytes of all entries behind it
//   entry    +0  u16 kind (1 PTX text, 2 ELF with machine code), u16 0x101, u32 bytes of the entry's header
//            +8  u64 bytes of its payload, padded
//            +16 u32 bytes of the payload if it is compressed
//            +24 u16 minor, u16 major version of the kind's format, u32 architecture (75: sm_75)
//            +40 u64 flags: 0x2000 LZ4 block, 0x8000 zstd frame
//            +56 u64 bytes when decompressed
// A program hands the runtime a wrapper: u32 0x466243B1, u32 version, address of the header, and, of a
// program that was compiled for separate linking (version 2), the address of a list of headers that ends with
// null.
#ifndef WEFT_RUNTIME_CUDA_FATBIN_FATBIN_H
#define WEFT_RUNTIME_CUDA_FATBIN_FATBIN_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::cuda {

inline constexpr std::uint32_t kFatbinMagic = 0xBA55ED50, kWrapperMagic = 0x466243B1;

struct FatbinLimits {
  std::uint64_t bytes = std::uint64_t{1} << 30;        // of a fat binary
  std::uint64_t entries = 1024;                        // in it
  std::uint64_t ptx_bytes = std::uint64_t{256} << 20;  // of one PTX text, decompressed
};

// One entry, not yet decompressed; refers to the fat binary's bytes.
struct FatbinEntry {
  enum class Kind : std::uint8_t { kPtx, kElf, kOther } kind = Kind::kOther;
  enum class Packing : std::uint8_t { kPlain, kLz4, kZstd } packing = Packing::kPlain;
  unsigned architecture = 0;  // 75: compute_75 or sm_75
  const std::uint8_t* payload = nullptr;
  std::uint64_t stored_bytes = 0;  // of the payload, without padding where that is known
  std::uint64_t text_bytes = 0;    // decompressed, as the entry says
};

// The entries of the fat binary at `data`. Never reads beyond `bytes`. Throws InputError(where, ...) for a
// wrong magic number, sizes that do not fit into each other, and what exceeds the limits.
std::vector<FatbinEntry> read_fatbin(const std::uint8_t* data, std::uint64_t bytes, const std::string& where,
                                     const FatbinLimits& limits = {});

// Bytes that the fat binary at `data` says it has, for one that lies in memory: 16 bytes are read. Throws
// InputError for a wrong magic number or more than limits.bytes.
std::uint64_t fatbin_bytes(const std::uint8_t* data, const std::string& where,
                           const FatbinLimits& limits = {});

// The text of a PTX entry, without the zero bytes at its end. Throws InputError if it cannot be decompressed,
// or becomes longer than its entry says or the limits allow.
std::string ptx_of(const FatbinEntry& entry, const std::string& where, const FatbinLimits& limits = {});

// The PTX entry to execute on a machine of compute capability `capability` (75: 7.5), as CUDA's driver
// chooses: the highest that the machine has; if there is none, the lowest. Throws InputError that names the
// remedy if there is machine code only.
const FatbinEntry& choose_ptx(const std::vector<FatbinEntry>& entries, unsigned capability,
                              const std::string& where);

}  // namespace weft::cuda

#endif
