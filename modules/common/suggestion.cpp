#include "common/suggestion.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace weft {
namespace {

// Levenshtein's distance: insertions, deletions and substitutions from `a` to `b`.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string suggestion(const std::string& wrong, const std::vector<std::string>& known) {
  constexpr std::size_t kLongest = 64;  // the distance is quadratic, and no key of ours is that long
  if (wrong.size() > kLongest) return "";
  const std::size_t limit = std::max<std::size_t>(2, wrong.size() / 3);
  std::size_t nearest = limit + 1;
  const std::string* best = nullptr;
  for (const std::string& word : known) {
    const std::size_t distance = edit_distance(wrong, word);
    if (distance < nearest) {
      nearest = distance;
      best = &word;
    }
  }
  return best == nullptr ? "" : "; did you mean \"" + *best + "\"?";
}

}  // namespace weft
