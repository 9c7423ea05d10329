#include "vcd/vcd_reader.h"

#include <sstream>
#include <stdexcept>

namespace weft::vcd {
namespace {

class Reader {
 public:
  Vcd read(const std::string& text) {
    std::istringstream in(text);
    require(text.empty() || text.back() == '\n', "ends in the middle of a line");
    std::string line;
    while (std::getline(in, line)) {
      ++vcd_.lines;
      const std::vector<std::string> words = split(line);
      require(!words.empty(), "is empty");
      defined_ ? change(words) : definition(words);
    }
    require(!dumping_, "ends inside $dumpvars");
    return std::move(vcd_);
  }

 private:
  static std::vector<std::string> split(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
  }
  void require(bool holds, const std::string& what) const {
    if (!holds) throw std::runtime_error("line " + std::to_string(vcd_.lines) + " " + what);
  }

  void definition(const std::vector<std::string>& words) {
    require(words.back() == "$end", "has no $end");
    const std::string& keyword = words.front();
    if (keyword == "$timescale") {
      for (std::size_t i = 1; i + 1 < words.size(); ++i) vcd_.timescale += words[i];
    } else if (keyword == "$scope") {
      require(words.size() == 4 && words[1] == "module", "is no scope");
      scopes_.push_back(words[2]);
    } else if (keyword == "$upscope") {
      require(!scopes_.empty(), "closes no scope");
      scopes_.pop_back();
    } else if (keyword == "$var") {
      require(words.size() == 6 && !scopes_.empty(), "is no variable");
      std::string name;
      for (const std::string& scope : scopes_) name += scope + ".";
      name += words[4];
      require(vcd_.waves.count(name) == 0, "declares " + name + " again");
      Wave& wave = vcd_.waves[name];
      wave.type = words[1];
      wave.width = static_cast<unsigned>(std::stoul(words[2]));
      require(codes_.emplace(words[3], &wave).second, "uses the code " + words[3] + " again");
    } else if (keyword == "$enddefinitions") {
      require(scopes_.empty(), "leaves a scope open");
      defined_ = true;
    } else {
      require(keyword == "$comment" || keyword == "$version", "has the unknown keyword " + keyword);
    }
  }

  void change(const std::vector<std::string>& words) {
    if (words[0][0] == '#') return time(words[0].substr(1));
    require(timed_, "comes before the first time");
    if (words[0] == "$dumpvars") {
      dumping_ = true;
    } else if (words[0] == "$end") {
      require(dumping_, "ends nothing");
      dumping_ = false;
      for (const auto& [name, wave] : vcd_.waves) require(wave.changes.size() == 1, "leaves out " + name);
    } else {
      require(words.size() == 2, "is no change");
      const auto found = codes_.find(words[1]);
      require(found != codes_.end(), "has an undeclared code");
      value(*found->second, words[0]);
    }
  }

  void time(const std::string& digits) {
    const std::uint64_t at = std::stoull(digits);
    require(!timed_ || at > vcd_.end, "goes back in time");
    if (!timed_) vcd_.begin = at;
    vcd_.end = at;
    timed_ = true;
  }

  void value(Wave& wave, const std::string& word) {
    const std::string value = word.substr(1);
    if (wave.type == "string") {
      require(word[0] == 's' && !value.empty(), "is no text");
    } else {
      require(word[0] == 'b' && !value.empty() && value.size() <= wave.width, "is no vector of its width");
      require(value == "z" || value.find_first_not_of("01") == std::string::npos, "has no such digits");
    }
    require(dumping_ || (!wave.changes.empty() && wave.changes.back().value != value), "changes nothing");
    wave.changes.push_back({vcd_.end, value});
  }

  Vcd vcd_;
  std::vector<std::string> scopes_;
  std::map<std::string, Wave*> codes_;
  bool defined_ = false, timed_ = false, dumping_ = false;
};

}  // namespace

Vcd read_vcd(const std::string& text) {
  return Reader().read(text);
}

}  // namespace weft::vcd
