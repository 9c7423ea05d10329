// launches.csv of a run, asked by kernel: what the launches of one counted together.
#ifndef WEFT_STUDY_JUDGE_KERNEL_LAUNCHES_H
#define WEFT_STUDY_JUDGE_KERNEL_LAUNCHES_H

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace weft::study {

class LaunchTable {
 public:
  // `text` of the file `where`. Throws InputError if that is no such table.
  LaunchTable(const std::string& text, const std::string& where);

  // That were launched, in the order of their first launch.
  const std::vector<std::string>& kernels() const { return kernels_; }
  bool has(const std::string& kernel) const;

  // The numbers of a column of the launches of `kernel`, or of all launches if that is empty. Empty: there is
  // no such column, or no such launch. Throws InputError for a kernel if the last row is of several launches
  // that the table does not tell apart.
  std::vector<double> numbers(const std::string& column, const std::string& kernel) const;
  std::optional<double> sum(const std::string& column, const std::string& kernel) const;

 private:
  std::string where_;
  std::vector<std::string> names_, kernels_;
  std::vector<std::vector<std::string>> rows_;
  std::size_t kernel_column_ = 0;
};

}  // namespace weft::study

#endif
