#include "study/plan/screening_design.h"

#include <array>
#include <stdexcept>
#include <string_view>

namespace weft::study {
namespace {

// The first rows of the paper's designs of 4, 8 ... 24 runs; the others are these shifted in a circle, and
// one of all first levels.
constexpr std::array<std::string_view, 6> kFirstRows{
    "++-", "+++-+--", "++-+++---+-", "++++-+-++--+---", "++--++++-+-+----++-", "+++++-+-++--++--+-+----",
};

}  // namespace

std::vector<std::vector<bool>> screening_design(std::size_t factors, bool foldover) {
  if (factors == 0 || factors > kMostFactors) throw std::invalid_argument("screening_design: factors");
  const std::string_view first = kFirstRows[factors / 4];
  const std::size_t columns = first.size();
  std::vector<std::vector<bool>> rows;
  for (std::size_t row = 0; row <= columns; ++row) {
    std::vector<bool>& levels = rows.emplace_back();
    for (std::size_t f = 0; f < factors; ++f)
      levels.push_back(row < columns && first[(f + columns - row) % columns] == '+');
  }
  if (!foldover) return rows;
  const std::size_t count = rows.size();
  for (std::size_t row = 0; row < count; ++row) {
    std::vector<bool> levels = rows[row];
    levels.flip();
    rows.push_back(std::move(levels));
  }
  return rows;
}

std::vector<double> effects_of(const std::vector<std::vector<bool>>& design,
                               const std::vector<double>& results) {
  std::vector<double> effects(design.at(0).size(), 0);
  for (std::size_t row = 0; row < design.size(); ++row) {
    for (std::size_t f = 0; f < effects.size(); ++f)
      effects[f] += design[row][f] ? results.at(row) : -results.at(row);
  }
  for (double& effect : effects) effect /= static_cast<double>(design.size()) / 2;
  return effects;
}

}  // namespace weft::study
