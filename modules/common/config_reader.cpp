#include "common/config_reader.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "common/config_ranges.h"
#include "common/suggestion.h"
#include "weft/common/error.h"

namespace weft::config {
namespace {

using nlohmann::json;

// An editor's pointer to the schema; allowed at the top, means nothing to us.
constexpr const char* kSchemaKey = "$schema";

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

void Reader::preset(const char* key, const char* /*meaning*/) {
  const json* entry = find(key);
  if (entry != nullptr)
    refuse(key, *entry, "values in place of this name, which load_config() would look up");
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
