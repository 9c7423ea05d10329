#include "vcd/signal_patterns.h"

#include <fnmatch.h>

#include <algorithm>

#include "weft/common/error.h"

namespace weft::vcd {
namespace {

using Names = std::vector<std::string>;

Names split(const std::string& text, char at) {
  Names parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

// How many names of the pattern match those that the signal begins with.
std::size_t matched(const Names& pattern, const Names& signal) {
  const std::size_t most = std::min(pattern.size(), signal.size());
  std::size_t count = 0;
  while (count < most && fnmatch(pattern[count].c_str(), signal[count].c_str(), 0) == 0) ++count;
  return count;
}

// "sm0" to "sm14" as "sm0...sm14": names that differ in the number at their end.
std::string listed(const Names& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto stem = [](const std::string& name) {
      return name.substr(0, name.find_last_not_of("0123456789") + 1);
    };
    std::size_t last = i;
    const bool numbered = stem(names[i]).size() != names[i].size();
    while (numbered && last + 1 < names.size() && stem(names[last + 1]) == stem(names[i]) &&
           names[last + 1].size() > stem(names[i]).size())
      ++last;
    if (!text.empty()) text += ", ";
    text += names[i];
    if (last > i) text += (last > i + 1 ? "..." : ", ") + names[last];
    i = last;
  }
  return text;
}

}  // namespace

std::vector<const Probes::Probe*> matching(const Probes& probes, const std::string& patterns,
                                           const std::string& where) {
  std::vector<Names> signals;
  for (const Probes::Probe& probe : probes.all()) signals.push_back(split(probe.name, '.'));

  std::vector<bool> chosen(signals.size(), false);
  for (const std::string& text : patterns.empty() ? Names{} : split(patterns, ',')) {
    const Names pattern = split(text, '.');
    std::size_t furthest = 0;
    bool any = false;
    for (std::size_t i = 0; i < signals.size(); ++i) {
      const std::size_t count = matched(pattern, signals[i]);
      furthest = std::max(furthest, count);
      if (count < pattern.size()) continue;
      chosen[i] = any = true;
    }
    if (any) continue;
    // Where the pattern went astray: the names that follow what still matched.
    Names allowed;
    for (const Names& signal : signals) {
      if (matched(pattern, signal) != furthest || signal.size() == furthest) continue;
      if (std::find(allowed.begin(), allowed.end(), signal[furthest]) == allowed.end())
        allowed.push_back(signal[furthest]);
    }
    std::string scope;
    for (std::size_t i = 0; i < furthest; ++i) scope += (i == 0 ? "" : ".") + pattern[i];
    throw InputError(where, "no signal is named '" + text + "'; allowed" +
                                (allowed.empty() ? ": " + scope + ", which is a signal"
                                 : scope.empty() ? ": " + listed(allowed)
                                                 : " in " + scope + ": " + listed(allowed)));
  }

  std::vector<const Probes::Probe*> result;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    const Probes::Probe& probe = probes.all()[i];
    if (chosen[i] || (patterns.empty() && !probe.detail)) result.push_back(&probe);
  }
  return result;
}

}  // namespace weft::vcd
