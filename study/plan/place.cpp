#include "study/plan/place.h"

#include <algorithm>

#include "common/config_document.h"
#include "study/plan/form.h"
#include "weft/common/error.h"

namespace weft::study {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

void Place::refuse(const std::string& allowed) const {
  throw InputError(where(), "found " + config::found(value_) + "; allowed: " + allowed);
}

Place Place::below(const nlohmann::json& value, const std::string& key) const {
  Place place(value, file_);
  place.pointer_ = config::join_pointer(pointer_, key);
  return place;
}

void Place::keys(const Form& form) const {
  keys(form.names(true), form.names(false));
}

void Place::keys(const std::vector<std::string>& required, const std::vector<std::string>& optional) const {
  std::vector<std::string> all = required;
  all.insert(all.end(), optional.begin(), optional.end());
  if (!value_.is_object()) refuse("an object with " + joined(all));
  for (const auto& [key, member] : value_.items()) {
    if (std::find(all.begin(), all.end(), key) == all.end() && !(pointer_.empty() && key == "$schema"))
      throw InputError(where(), "unknown key '" + key + "'; allowed: " + joined(all));
  }
  for (const std::string& key : required) {
    if (!has(key)) throw InputError(where(), "'" + key + "' is missing; needed: " + joined(required));
  }
}

Place Place::at(const std::string& key) const {
  return below(value_.at(key), key);
}

std::vector<Place> Place::items(bool may_be_empty) const {
  if (!value_.is_array() || (value_.empty() && !may_be_empty)) refuse("a list that is not empty");
  std::vector<Place> list;
  for (std::size_t i = 0; i < value_.size(); ++i) list.push_back(below(value_[i], std::to_string(i)));
  return list;
}

std::vector<std::pair<std::string, Place>> Place::members() const {
  if (!value_.is_object() || value_.empty()) refuse("an object that is not empty");
  std::vector<std::pair<std::string, Place>> list;
  for (const auto& [key, member] : value_.items()) list.emplace_back(key, below(member, key));
  return list;
}

std::string Place::text() const {
  if (!value_.is_string() || value_.get_ref<const std::string&>().empty()) refuse("text that is not empty");
  return value_.get<std::string>();
}

std::string Place::text_of(const std::string& key, const std::string& otherwise) const {
  return has(key) ? at(key).text() : otherwise;
}

std::string Place::one_of(const std::vector<std::string>& allowed) const {
  if (!value_.is_string() || std::find(allowed.begin(), allowed.end(), value_) == allowed.end())
    refuse(joined(allowed));
  return value_.get<std::string>();
}

double Place::number() const {
  if (!value_.is_number()) refuse("a number");
  return value_.get<double>();
}

std::vector<std::string> Place::texts(bool may_be_empty) const {
  std::vector<std::string> list;
  for (const Place& item : items(may_be_empty)) list.push_back(item.text());
  return list;
}

int Place::digits_of(int otherwise) const {
  if (!has("digits")) return otherwise;
  const Place digits = at("digits");
  if (!digits.value().is_number_unsigned() || digits.number() > 9) digits.refuse("a number from 0 to 9");
  return digits.value().get<int>();
}

}  // namespace weft::study
