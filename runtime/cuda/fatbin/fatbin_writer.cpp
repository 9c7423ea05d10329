#include "runtime/cuda/fatbin/fatbin_writer.h"

#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <stdexcept>

namespace weft::cuda {
namespace {

constexpr std::uint64_t kAlignment = 8;

template <class T>
void put(std::vector<std::uint8_t>& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::string packed(const FatbinSource& source) {
  const std::string& text = source.content;
  if (source.packing == FatbinEntry::Packing::kPlain) return text;
  const bool zstd = source.packing == FatbinEntry::Packing::kZstd;
  const int text_bytes = static_cast<int>(text.size());
  std::string out(
      zstd ? ZSTD_compressBound(text.size()) : static_cast<std::size_t>(LZ4_compressBound(text_bytes)), '\0');
  const std::size_t bytes = zstd ? ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3)
                                 : static_cast<std::size_t>(LZ4_compress_default(
                                       text.data(), out.data(), text_bytes, static_cast<int>(out.size())));
  if (bytes == 0 || (zstd && ZSTD_isError(bytes) != 0)) throw std::runtime_error("compression failed");
  out.resize(bytes);
  return out;
}

void append(std::vector<std::uint8_t>& bytes, const FatbinSource& source) {
  const std::string payload = packed(source);
  const std::size_t at = bytes.size(), header = 64;
  const std::size_t padded = (payload.size() + kAlignment - 1) / kAlignment * kAlignment;
  const bool plain = source.packing == FatbinEntry::Packing::kPlain;
  bytes.resize(at + header + padded);
  put<std::uint16_t>(bytes, at, source.kind == FatbinEntry::Kind::kPtx ? 1 : 2);
  put<std::uint16_t>(bytes, at + 2, 0x101);
  put<std::uint32_t>(bytes, at + 4, header);
  put<std::uint64_t>(bytes, at + 8, padded);
  put<std::uint32_t>(bytes, at + 16, plain ? 0 : static_cast<std::uint32_t>(payload.size()));
  put<std::uint32_t>(bytes, at + 28, source.architecture);
  constexpr std::uint64_t kWideHostLinux = 0x11;
  put<std::uint64_t>(bytes, at + 40,
                     kWideHostLinux | (plain                                           ? 0
                                       : source.packing == FatbinEntry::Packing::kZstd ? 0x8000
                                                                                       : 0x2000));
  put<std::uint64_t>(bytes, at + 56, plain ? 0 : source.content.size());
  std::memcpy(bytes.data() + at + header, payload.data(), payload.size());
}

}  // namespace

std::vector<std::uint8_t> write_fatbin(const std::vector<FatbinSource>& sources) {
  std::vector<std::uint8_t> bytes(16);
  for (const FatbinSource& source : sources) append(bytes, source);
  put<std::uint32_t>(bytes, 0, kFatbinMagic);
  put<std::uint16_t>(bytes, 4, 1);
  put<std::uint16_t>(bytes, 6, 16);
  put<std::uint64_t>(bytes, 8, bytes.size() - 16);
  return bytes;
}

}  // namespace weft::cuda
