// A place in a JSON file that a person wrote: reads what has to stand there, or says where it is, what was
// found and what is allowed.
#ifndef WEFT_STUDY_PLAN_PLACE_H
#define WEFT_STUDY_PLAN_PLACE_H

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace weft::study {

struct Form;

class Place {
 public:
  // `value` must outlive it. `where` is the file.
  Place(const nlohmann::json& value, std::string where) : value_(value), file_(std::move(where)) {}

  const nlohmann::json& value() const { return value_; }
  std::string where() const { return file_ + ": " + (pointer_.empty() ? "/" : pointer_); }
  const std::string& file() const { return file_; }
  const std::string& pointer() const { return pointer_; }  // as of JSON; empty: the whole file

  // Refuses what is no object, lacks a key that the form needs, or has one that it does not have. A whole
  // file may name its schema ("$schema").
  void keys(const Form& form) const;
  // The same, for files that this program writes and that need no form.
  void keys(const std::vector<std::string>& required, const std::vector<std::string>& optional = {}) const;
  bool has(const std::string& key) const { return value_.contains(key); }
  Place at(const std::string& key) const;  // which is there
  std::vector<Place> items(bool may_be_empty = false) const;
  std::vector<std::pair<std::string, Place>> members() const;

  std::string text() const;  // not empty
  std::string text_of(const std::string& key, const std::string& otherwise = "") const;
  std::string one_of(const std::vector<std::string>& allowed) const;
  double number() const;
  std::vector<std::string> texts(bool may_be_empty = false) const;
  // Digits after the point, by the key "digits".
  int digits_of(int otherwise) const;

  [[noreturn]] void refuse(const std::string& allowed) const;

 private:
  Place below(const nlohmann::json& value, const std::string& key) const;

  const nlohmann::json& value_;
  std::string file_, pointer_;
};

// "a, b, c"
std::string joined(const std::vector<std::string>& words);

}  // namespace weft::study

#endif
