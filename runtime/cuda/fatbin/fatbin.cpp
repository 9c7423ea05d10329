#include "runtime/cuda/fatbin/fatbin.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "weft/common/error.h"

namespace weft::cuda {
namespace {

constexpr std::uint64_t kHeaderBytes = 16, kEntryHeaderBytes = 64;
constexpr std::uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;

template <class T>
T read(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

void check_magic(const std::uint8_t* data, const std::string& where) {
  if (read<std::uint32_t>(data) != kFatbinMagic) {
    throw InputError(where, "not a fat binary: it does not begin with the bytes 50 ed 55 ba");
  }
}

FatbinEntry read_entry(const std::uint8_t* at, std::uint64_t header, std::uint64_t payload,
                       const std::string& where) {
  FatbinEntry entry;
  const auto kind = read<std::uint16_t>(at);
  entry.kind = kind == 1   ? FatbinEntry::Kind::kPtx
               : kind == 2 ? FatbinEntry::Kind::kElf
                           : FatbinEntry::Kind::kOther;
  entry.architecture = read<std::uint32_t>(at + 28);
  const auto flags = read<std::uint64_t>(at + 40);
  entry.payload = at + header;
  entry.stored_bytes = entry.text_bytes = payload;
  if ((flags & (kFlagLz4 | kFlagZstd)) == 0) return entry;
  entry.packing = (flags & kFlagZstd) != 0 ? FatbinEntry::Packing::kZstd : FatbinEntry::Packing::kLz4;
  entry.stored_bytes = read<std::uint32_t>(at + 16);
  entry.text_bytes = read<std::uint64_t>(at + 56);
  if (entry.stored_bytes > payload) {
    throw InputError(where, "an entry has " + number(entry.stored_bytes) +
                                " compressed bytes; its payload has " + number(payload));
  }
  return entry;
}

void strip_zeros(std::string& text) {
  const auto last = text.find_last_not_of('\0');
  text.resize(last == std::string::npos ? 0 : last + 1);
}

std::string unpack(const FatbinEntry& entry, const std::string& where) {
  std::string text(entry.text_bytes, '\0');
  std::uint64_t bytes = 0;
  if (entry.packing == FatbinEntry::Packing::kZstd) {
    bytes = ZSTD_decompress(text.data(), text.size(), entry.payload, entry.stored_bytes);
    if (ZSTD_isError(bytes) != 0) {
      throw InputError(where, std::string("PTX cannot be decompressed (zstd): ") + ZSTD_getErrorName(bytes));
    }
  } else {
    const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(entry.payload), text.data(),
                                        static_cast<int>(entry.stored_bytes), static_cast<int>(text.size()));
    if (got < 0) throw InputError(where, "PTX cannot be decompressed (LZ4): the data are damaged");
    bytes = static_cast<std::uint64_t>(got);
  }
  if (bytes != entry.text_bytes) {
    throw InputError(
        where, "PTX decompresses to " + number(bytes) + " bytes; its entry says " + number(entry.text_bytes));
  }
  return text;
}

}  // namespace

std::uint64_t fatbin_bytes(const std::uint8_t* data, const std::string& where, const FatbinLimits& limits) {
  check_magic(data, where);
  const std::uint64_t header = read<std::uint16_t>(data + 6), entries = read<std::uint64_t>(data + 8);
  if (header < kHeaderBytes || entries > limits.bytes) {
    throw InputError(where, "the header of the fat binary names " + number(entries) +
                                " bytes; allowed: up to " + number(limits.bytes));
  }
  return header + entries;
}

std::vector<FatbinEntry> read_fatbin(const std::uint8_t* data, std::uint64_t bytes, const std::string& where,
                                     const FatbinLimits& limits) {
  if (bytes < kHeaderBytes)
    throw InputError(where, "a fat binary has at least 16 bytes; found " + number(bytes));
  const std::uint64_t end = fatbin_bytes(data, where, limits);
  if (end > bytes) {
    throw InputError(where,
                     "the header of the fat binary names " + number(end) + " bytes; found " + number(bytes));
  }
  std::vector<FatbinEntry> entries;
  for (std::uint64_t at = read<std::uint16_t>(data + 6); at < end;) {
    const std::string entry_name = "entry " + number(entries.size()) + " of the fat binary";
    if (end - at < kEntryHeaderBytes) throw InputError(where, entry_name + " is cut off");
    const std::uint64_t header = read<std::uint32_t>(data + at + 4),
                        payload = read<std::uint64_t>(data + at + 8);
    if (header < kEntryHeaderBytes || header > end - at || payload > end - at - header) {
      throw InputError(where, entry_name + " names a header of " + number(header) +
                                  " bytes and a payload of " + number(payload) +
                                  " bytes; bytes left: " + number(end - at));
    }
    if (entries.size() == limits.entries) {
      throw InputError(where, "the fat binary has more than " + number(limits.entries) + " entries");
    }
    entries.push_back(read_entry(data + at, header, payload, where));
    at += header + payload;
  }
  return entries;
}

std::string ptx_of(const FatbinEntry& entry, const std::string& where, const FatbinLimits& limits) {
  // LZ4's interface counts in int; so does the limit, unless someone raises it.
  const std::uint64_t most =
      std::min<std::uint64_t>(limits.ptx_bytes, std::numeric_limits<std::int32_t>::max());
  if (entry.text_bytes > most || entry.stored_bytes > most) {
    throw InputError(where, "PTX of " + number(entry.text_bytes) + " bytes; allowed: up to " + number(most));
  }
  std::string text = entry.packing == FatbinEntry::Packing::kPlain
                         ? std::string(reinterpret_cast<const char*>(entry.payload), entry.stored_bytes)
                         : unpack(entry, where);
  strip_zeros(text);
  return text;
}

const FatbinEntry& choose_ptx(const std::vector<FatbinEntry>& entries, unsigned capability,
                              const std::string& where) {
  const FatbinEntry *best = nullptr, *lowest = nullptr;
  std::set<unsigned> machine_code;
  for (const FatbinEntry& entry : entries) {
    if (entry.kind == FatbinEntry::Kind::kElf) machine_code.insert(entry.architecture);
    if (entry.kind != FatbinEntry::Kind::kPtx) continue;
    if (lowest == nullptr || entry.architecture < lowest->architecture) lowest = &entry;
    const bool fits = entry.architecture <= capability;
    if (fits && (best == nullptr || entry.architecture > best->architecture)) best = &entry;
  }
  if (best != nullptr || lowest != nullptr) return best != nullptr ? *best : *lowest;
  std::string found;
  for (const unsigned architecture : machine_code)
    found += (found.empty() ? "" : ", ") + ("sm_" + number(architecture));
  throw InputError(
      where,
      "the program contains " +
          (found.empty() ? std::string("no device code") : "machine code for " + found + " and no PTX") +
          "; Weft executes PTX. Compile it in: nvcc -gencode arch=compute_75,code=compute_75 "
          "(with -code=sm_..., PTX is left out)");
}

}  // namespace weft::cuda
