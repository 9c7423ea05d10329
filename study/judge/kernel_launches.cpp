#include "study/judge/kernel_launches.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "study/session/csv_reader.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

// "(12 more launches)"
bool is_rest(const std::string& kernel) {
  return !kernel.empty() && kernel.front() == '(';
}

}  // namespace

LaunchTable::LaunchTable(const std::string& text, const std::string& where) : where_(where) {
  CsvReader table(text, where);
  kernel_column_ = table.column("kernel");
  names_ = table.names();
  while (table.next()) {
    rows_.push_back(table.cells());
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

}  // namespace weft::study
