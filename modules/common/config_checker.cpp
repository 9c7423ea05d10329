#include "common/config_checker.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "common/config_document.h"
#include "common/config_ranges.h"
#include "weft/common/error.h"

namespace weft::config {

void Checker::refuse(const char* key, const std::string& found, const std::string& allowed) const {
  throw InputError(where_ + ": " + join_pointer(levels_.back(), key),
                   "is " + found + "; allowed: " + allowed);
}

void Checker::integer(const char* key, std::uint64_t& value, IntegerRange allowed, const char* unit,
                      const char* /*meaning*/) {
  if (!within(allowed, value)) refuse(key, std::to_string(value), expected(allowed, unit));
}

void Checker::real(const char* key, double& value, RealRange allowed, const char* unit,
                   const char* /*meaning*/) {
  if (within(allowed, value)) return;
  std::ostringstream found;
  found << value;
  refuse(key, found.str(), expected(allowed, unit));
}

// An enumeration's value without a name comes as an empty word.
void Checker::word(const char* key, std::string& value, const std::vector<std::string>& allowed,
                   const char* /*meaning*/) {
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    refuse(key, "\"" + value + "\"", expected(allowed));
}

void Checker::preset(const char* /*key*/, const char* /*meaning*/) {}

void Checker::begin(const char* key, const char* /*meaning*/) {
  levels_.push_back(join_pointer(levels_.back(), key));
}

void Checker::end() {
  if (levels_.size() == 1) throw std::logic_error("config::Checker: end() without begin()");
  levels_.pop_back();
}

}  // namespace weft::config
