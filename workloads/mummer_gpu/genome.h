// DNA for the aligners: a reference sequence with repeats, reads sampled from it, and the longest matches
// found over a sorted suffix array, which is the oracle of the suffix tree.
#ifndef WEFT_WORKLOADS_MUMMER_GPU_GENOME_H
#define WEFT_WORKLOADS_MUMMER_GPU_GENOME_H

#include <cstdint>
#include <vector>

namespace weft::workloads {

using Bases = std::vector<std::uint8_t>;        // 0 to 3: A, C, G, T
inline constexpr std::uint8_t kTerminator = 4;  // follows the last base where a sequence needs an end

// About one base in six lies in a copy of an earlier piece (30 to 300 bases, one base in twenty changed, half
// of them reverse complements), one in thirty in a short tandem repeat; the rest is drawn with 35 % G and C.
Bases random_genome(std::uint32_t length, std::uint32_t seed);

// `count` reads of `length` bases one after the other. So many percent of them, drawn one by one, are pieces
// of the genome; the others are drawn as its bases are. A genome shorter than a read gives only those.
Bases random_reads(const Bases& genome, std::uint32_t count, std::uint32_t length,
                   std::uint32_t percent_present, std::uint32_t seed);

// Positions in the order of the suffixes that begin there; a suffix sorts before what it is a prefix of.
std::vector<std::uint32_t> suffix_array(const Bases& genome);

struct LongestMatch {
  std::uint32_t length = 0;           // of the longest prefix that occurs in the genome
  std::uint32_t first = 0, last = 0;  // the suffixes that begin with it: [first, last) of the suffix array
};
LongestMatch longest_match(const Bases& genome, const std::vector<std::uint32_t>& suffixes,
                           const std::uint8_t* text, std::uint32_t length);

}  // namespace weft::workloads

#endif
