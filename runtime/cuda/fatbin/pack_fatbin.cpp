// pack_fatbin plain|lz4|zstd|machine-code INPUT.ptx OUTPUT.fatbin
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "runtime/cuda/fatbin/fatbin_writer.h"

int main(int argc, char** argv) {
  using namespace weft::cuda;
  if (argc != 4) {
    std::cerr << "usage: pack_fatbin plain|lz4|zstd|machine-code INPUT.ptx OUTPUT.fatbin\n";
    return 2;
  }
  const std::string packing = argv[1];
  std::ifstream in(argv[2], std::ios::binary);
  FatbinSource source;
  if (packing == "machine-code") source.kind = FatbinEntry::Kind::kElf;  // what it says it is
  source.packing = packing == "zstd"  ? FatbinEntry::Packing::kZstd
                   : packing == "lz4" ? FatbinEntry::Packing::kLz4
                                      : FatbinEntry::Packing::kPlain;
  source.content.assign(std::istreambuf_iterator<char>(in), {});
  source.content += '\0';
  const auto bytes = write_fatbin({source});
  std::ofstream out(argv[3], std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.flush();
  return in && out ? 0 : 1;
}
