#include "sc_main/reproduce_launches.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sstream>

#include "weft/common/error.h"

namespace weft::cli {
namespace {

// No cell that Weft writes has a comma or a quotation mark within.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) {
    if (cell.size() > 1 && cell.front() == '"') cell = cell.substr(1, cell.size() - 2);
    cells.push_back(cell);
  }
  return cells;
}

// "(12 more launches)"
bool is_rest(const std::string& kernel) {
  return !kernel.empty() && kernel.front() == '(';
}

}  // namespace

LaunchTable::LaunchTable(const std::string& text, const std::string& where) : where_(where) {
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  names_ = cells_of(line);
  const auto kernel = std::find(names_.begin(), names_.end(), "kernel");
  if (kernel == names_.end())
    throw InputError(where, "has no column 'kernel'; allowed: launches.csv of a run");
  kernel_column_ = static_cast<std::size_t>(kernel - names_.begin());
  for (; std::getline(in, line);) {
    rows_.push_back(cells_of(line));
    if (rows_.back().size() != names_.size()) {
      throw InputError(where, "line " + std::to_string(rows_.size() + 1) + ": found " +
                                  std::to_string(rows_.back().size()) + " cells; allowed: " +
                                  std::to_string(names_.size()) + ", as many as headings");
    }
    const std::string& name = rows_.back()[kernel_column_];
    if (!is_rest(name) && !has(name)) kernels_.push_back(name);
  }
}

bool LaunchTable::has(const std::string& kernel) const {
  return std::find(kernels_.begin(), kernels_.end(), kernel) != kernels_.end();
}

std::vector<double> LaunchTable::numbers(const std::string& column, const std::string& kernel) const {
  const auto found = std::find(names_.begin(), names_.end(), column);
  if (found == names_.end()) return {};
  const auto at = static_cast<std::size_t>(found - names_.begin());
  std::vector<double> list;
  for (const auto& row : rows_) {
    const std::string& name = row[kernel_column_];
    if (!kernel.empty() && is_rest(name)) {
      std::string text = name;
      text.append(" are in one row, so that those of '").append(kernel).append("' are not known");
      throw InputError(where_, text);
    }
    if (kernel.empty() || name == kernel) list.push_back(std::strtod(row[at].c_str(), nullptr));
  }
  return list;
}

std::optional<double> LaunchTable::sum(const std::string& column, const std::string& kernel) const {
  const auto list = numbers(column, kernel);
  if (list.empty()) return {};
  return std::accumulate(list.begin(), list.end(), 0.0);
}

}  // namespace weft::cli
