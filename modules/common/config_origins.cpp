#include "common/config_origins.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weft::config {
namespace {

bool is_at_or_below(const std::string& pointer, const std::string& top) {
  return pointer.compare(0, top.size(), top) == 0 &&
         (pointer.size() == top.size() || pointer[top.size()] == '/');
}

}  // namespace

// The last one counts, as it does for the value.
const Override* Origins::set_by(const std::string& pointer) const {
  const Override* found = nullptr;
  for (const Override& given : overrides_) {
    const bool covers = std::any_of(given.pointers.begin(), given.pointers.end(),
                                    [&](const std::string& top) { return is_at_or_below(pointer, top); });
    if (covers) found = &given;
  }
  return found;
}

std::string Origins::of(const std::string& pointer) const {
  const Override* const given = set_by(pointer);
  return given == nullptr ? file_ : given->origin();
}

void Origins::check(const std::function<void()>& rules) const {
  const auto refuse = [this](const std::string& message, const std::vector<std::string>& others) {
    const std::size_t end = message.find(": ");
    if (message.empty() || message.front() != '/' || end == std::string::npos)
      throw InputError(file_, message);
    std::vector<std::string> pointers{message.substr(0, end)}, options, texts;
    pointers.insert(pointers.end(), others.begin(), others.end());
    std::string details;
    bool mixed = false;
    for (const std::string& pointer : pointers) {
      const Override* const given = set_by(pointer);
      const std::string origin = of(pointer);
      mixed = mixed || origin != of(pointers.front());
      if (given != nullptr && std::find(options.begin(), options.end(), origin) == options.end())
        options.push_back(origin);
      const bool there = document_.contains(nlohmann::json::json_pointer(pointer));
      details += (details.empty() ? "" : ", ") + pointer + (there ? " is from " + origin : " is the default");
    }
    // Who set one of the values wants to know that first.
    std::string where;
    for (const std::string& option : options) where += (where.empty() ? "" : ", ") + option;
    throw InputError(where.empty() ? file_ : where, message + (mixed ? " (" + details + ")" : ""));
  };
  try {
    rules();
  } catch (const RuleError& error) {
    refuse(error.what(), error.others());
  } catch (const InputError& error) {
    refuse(error.what(), {});
  }
}

}  // namespace weft::config
