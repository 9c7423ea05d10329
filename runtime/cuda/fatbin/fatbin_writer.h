// Packs PTX texts into a fat binary of the layout in fatbin.h, for programs whose host part clang compiles
// without a CUDA toolkit (clang -Xclang -fcuda-include-gpubinary -Xclang FILE).
#ifndef WEFT_RUNTIME_CUDA_FATBIN_FATBIN_WRITER_H
#define WEFT_RUNTIME_CUDA_FATBIN_FATBIN_WRITER_H

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cuda/fatbin/fatbin.h"

namespace weft::cuda {

struct FatbinSource {
  FatbinEntry::Kind kind = FatbinEntry::Kind::kPtx;
  FatbinEntry::Packing packing = FatbinEntry::Packing::kPlain;
  unsigned architecture = 75;
  std::string content;
};

std::vector<std::uint8_t> write_fatbin(const std::vector<FatbinSource>& sources);

}  // namespace weft::cuda

#endif
