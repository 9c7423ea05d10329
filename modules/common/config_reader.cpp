#include "common/config_reader.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "common/config_ranges.h"
#include "weft/common/error.h"

namespace weft::config {
namespace {

using nlohmann::json;

// An editor's pointer to the schema; allowed at the top, means nothing to us.
constexpr const char* kSchemaKey = "$schema";

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

// `; did you mean "x"?` for the nearest of `known`, if one is near enough to be a slip of the pen.
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

}  // namespace

Reader::Known& Reader::Known::add(const std::string& key) {
  std::unique_ptr<Known>& entry = keys[key];
  if (!entry) {
    entry = std::make_unique<Known>();
    order.push_back(key);
  }
  return *entry;
}

Reader::Reader(const json& document, const std::string& file, const std::vector<Override>& overrides)
    : origins_(document, file, overrides) {
  if (!document.is_object()) throw InputError(file, "is " + found(document) + "; allowed: an object");
  levels_.push_back({&document, &root_, ""});
}

const json* Reader::find(const char* key) {
  Level& level = levels_.back();
  level.known->add(key);
  if (level.object == nullptr) return nullptr;
  const auto entry = level.object->find(key);
  return entry == level.object->end() ? nullptr : &*entry;
}

std::string Reader::where(const std::string& pointer) const {
  const std::string source = origins_.of(pointer);
  return pointer.empty() ? source : source + ": " + pointer;
}

void Reader::refuse(const char* key, const json& value, const std::string& allowed) const {
  throw InputError(where(join_pointer(levels_.back().pointer, key)),
                   "is " + found(value) + "; allowed: " + allowed);
}

void Reader::integer(const char* key, std::uint64_t& value, IntegerRange allowed, const char* unit,
                     const char* /*meaning*/) {
  const json* entry = find(key);
  if (entry == nullptr) return;
  std::uint64_t given = 0;
  // A parsed number is unsigned unless negative; one that a program put there may be signed and positive.
  if (entry->is_number_unsigned() || (entry->is_number_integer() && entry->get<std::int64_t>() >= 0)) {
    given = entry->get<std::uint64_t>();
  } else if (entry->is_number_float()) {
    // 1e6 is an integer, as in JSON Schema; beyond 2^53 a real number no longer names one integer.
    const double written = entry->get<double>();
    if (!(written >= 0 && written <= 0x1p53) || std::floor(written) != written)
      refuse(key, *entry, expected(allowed, unit));
    given = static_cast<std::uint64_t>(written);
  } else {
    refuse(key, *entry, expected(allowed, unit));
  }
  if (!within(allowed, given)) refuse(key, *entry, expected(allowed, unit));
  value = given;
}

void Reader::real(const char* key, double& value, RealRange allowed, const char* unit,
                  const char* /*meaning*/) {
  const json* entry = find(key);
  if (entry == nullptr) return;
  if (!entry->is_number()) refuse(key, *entry, expected(allowed, unit));
  const auto given = entry->get<double>();
  if (!within(allowed, given)) refuse(key, *entry, expected(allowed, unit));
  value = given;
}

void Reader::boolean(const char* key, bool& value, const char* /*meaning*/) {
  const json* entry = find(key);
  if (entry == nullptr) return;
  if (!entry->is_boolean()) refuse(key, *entry, "true, false");
  value = entry->get<bool>();
}

void Reader::text(const char* key, std::string& value, const char* /*meaning*/) {
  const json* entry = find(key);
  if (entry == nullptr) return;
  if (!entry->is_string()) refuse(key, *entry, "a string");
  value = entry->get<std::string>();
}

void Reader::word(const char* key, std::string& value, const std::vector<std::string>& allowed,
                  const char* /*meaning*/) {
  const json* entry = find(key);
  if (entry == nullptr) return;
  if (!entry->is_string()) refuse(key, *entry, "one of the strings " + expected(allowed));
  const auto given = entry->get<std::string>();
  if (std::find(allowed.begin(), allowed.end(), given) == allowed.end()) {
    const std::string near = suggestion(given, allowed);
    throw InputError(where(join_pointer(levels_.back().pointer, key)),
                     "is " + found(*entry) + (near.empty() ? ";" : near) + " allowed: " + expected(allowed));
  }
  value = given;
}

void Reader::begin(const char* key, const char* /*meaning*/) {
  const json* entry = find(key);
  if (entry != nullptr && !entry->is_object()) refuse(key, *entry, "an object");
  const Level& level = levels_.back();
  // A copy first: push_back may move the levels while its argument still refers to one.
  Level inner{entry, level.known->keys.at(key).get(), join_pointer(level.pointer, key)};
  levels_.push_back(std::move(inner));
}

void Reader::end() {
  if (levels_.size() == 1) throw std::logic_error("config::Reader: end() without begin()");
  levels_.pop_back();
}

void Reader::finish() const {
  if (levels_.size() != 1) throw std::logic_error("config::Reader: begin() without end()");
  refuse_unknown(*levels_.front().object, root_, "");
}

void Reader::refuse_unknown(const json& object, const Known& known, const std::string& pointer) const {
  for (const auto& [key, value] : object.items()) {
    const std::string here = join_pointer(pointer, key);
    const auto entry = known.keys.find(key);
    if (entry != known.keys.end()) {
      if (value.is_object()) refuse_unknown(value, *entry->second, here);
      continue;
    }
    if (pointer.empty() && key == kSchemaKey) continue;
    const std::string near = suggestion(key, known.order);
    // The unknown key decides whom to blame, its object is the place to look.
    std::string place = where(here);
    place = place.substr(0, place.size() - here.size()) + (pointer.empty() ? "/" : pointer);
    throw InputError(place, "unknown key \"" + key + "\"" + (near.empty() ? ";" : near) +
                                " allowed: " + (known.order.empty() ? "none" : expected(known.order)));
  }
}

}  // namespace weft::config
