#include "workloads/mummer_gpu/genome.h"

#include <algorithm>
#include <numeric>

#include "workloads/host.h"

namespace weft::workloads {
namespace {

std::uint8_t random_base(Random& random) {
  const std::uint32_t percent = random.next() % 100;
  return percent < 33 ? 0 : percent < 50 ? 1 : percent < 68 ? 2 : 3;
}

void append_copy(Bases& genome, Random& random) {
  const std::uint32_t length = 30 + random.next() % 270;
  if (genome.size() <= length) return;
  const auto from = random.next() % static_cast<std::uint32_t>(genome.size() - length);
  const bool reversed = random.next() % 2 == 1;
  for (std::uint32_t i = 0; i < length; ++i) {
    const std::uint8_t base = reversed ? 3 - genome[from + length - 1 - i] : genome[from + i];
    genome.push_back(random.next() % 20 == 0 ? random_base(random) : base);
  }
}

void append_tandem(Bases& genome, Random& random) {
  const std::uint32_t period = 2 + random.next() % 5, length = 10 + random.next() % 50;
  if (genome.size() < period) return;
  for (std::uint32_t i = 0; i < length; ++i) genome.push_back(genome[genome.size() - period]);
}

}  // namespace

Bases random_genome(std::uint32_t length, std::uint32_t seed) {
  Random random(seed);
  Bases genome;
  genome.reserve(length + 300);
  while (genome.size() < length) {
    const std::uint32_t kind = random.next() % 1000;
    if (kind == 0) {
      append_tandem(genome, random);
    } else if (kind == 1) {
      append_copy(genome, random);
    } else {
      genome.push_back(random_base(random));
    }
  }
  genome.resize(length);
  return genome;
}

Bases random_reads(const Bases& genome, std::uint32_t count, std::uint32_t length,
                   std::uint32_t percent_present, std::uint32_t seed) {
  Random random(seed);
  Bases reads;
  reads.reserve(std::size_t{count} * length);
  for (std::uint32_t read = 0; read < count; ++read) {
    const bool sampled = random.next() % 100 < percent_present && genome.size() >= length;
    const std::uint32_t places = sampled ? static_cast<std::uint32_t>(genome.size()) - length + 1 : 1;
    const std::uint32_t from = random.next() % places;
    for (std::uint32_t i = 0; i < length; ++i) {
      reads.push_back(sampled ? genome[from + i] : random_base(random));
    }
  }
  return reads;
}

std::vector<std::uint32_t> suffix_array(const Bases& genome) {
  std::vector<std::uint32_t> suffixes(genome.size());
  std::iota(suffixes.begin(), suffixes.end(), 0u);
  std::sort(suffixes.begin(), suffixes.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::lexicographical_compare(genome.begin() + a, genome.end(), genome.begin() + b, genome.end());
  });
  return suffixes;
}

LongestMatch longest_match(const Bases& genome, const std::vector<std::uint32_t>& suffixes,
                           const std::uint8_t* text, std::uint32_t length) {
  LongestMatch match{0, 0, static_cast<std::uint32_t>(suffixes.size())};
  for (; match.length < length; ++match.length) {
    // The suffixes of the range agree so far and are sorted by the next base; one that ends sorts first.
    const auto next = [&](std::uint32_t suffix) {
      const std::size_t at = std::size_t{suffix} + match.length;
      return at < genome.size() ? int{genome[at]} : -1;
    };
    const int wanted = text[match.length];
    const auto first = std::partition_point(suffixes.begin() + match.first, suffixes.begin() + match.last,
                                            [&](std::uint32_t suffix) { return next(suffix) < wanted; });
    const auto last = std::partition_point(first, suffixes.begin() + match.last,
                                           [&](std::uint32_t suffix) { return next(suffix) == wanted; });
    if (first == last) break;
    match.first = static_cast<std::uint32_t>(first - suffixes.begin());
    match.last = static_cast<std::uint32_t>(last - suffixes.begin());
  }
  return match;
}

}  // namespace weft::workloads
