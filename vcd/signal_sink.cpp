#include "vcd/signal_sink.h"

#include <algorithm>

namespace weft::vcd {
namespace {

// The scopes of a name, outermost first.
std::vector<std::string> scopes_of(const std::string& name) {
  std::vector<std::string> scopes;
  std::size_t begin = 0;
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', begin)) {
    scopes.push_back(name.substr(begin, dot - begin));
    begin = dot + 1;
  }
  return scopes;
}

}  // namespace

VcdSink::VcdSink(const std::string& file, const std::string& scope, const std::vector<std::string>& comments,
                 const Signals& signals)
    : vcd_(file) {
  for (const std::string& comment : comments) vcd_.comment(comment);
  vcd_.open_scope(scope);
  std::vector<std::string> open;
  const auto go_to = [&](const std::vector<std::string>& scopes) {
    const auto common = static_cast<std::size_t>(
        std::mismatch(open.begin(), open.end(), scopes.begin(), scopes.end()).first - open.begin());
    for (; open.size() > common; open.pop_back()) vcd_.close_scope();
    for (std::size_t i = common; i < scopes.size(); ++i) vcd_.open_scope(scopes[i]);
    open = scopes;
  };
  for (const Probes::Probe* signal : signals) {
    go_to(scopes_of(signal->name));
    const std::string name = signal->name.substr(signal->name.rfind('.') + 1);
    ids_.push_back(signal->bits == 0 ? vcd_.text(name) : vcd_.vector(name, signal->bits));
  }
  go_to({});
  vcd_.close_scope();
  vcd_.end_definitions();
}

void VcdSink::at(std::uint64_t time) {
  time_ = time;
  vcd_.at(time);
}

ScTraceSink::ScTraceSink(sc_core::sc_trace_file* file, const std::string& prefix, const Signals& signals) {
  for (const Probes::Probe* signal : signals) {
    variables_.emplace_back(signal->bits == 0 ? 8 * kTextBytes : signal->bits);
    sc_core::sc_trace(file, variables_.back().bits, prefix + "." + signal->name);
  }
}

// Word by word: SystemC's own ways to set a vector shift by 32, or a bit out of an int, which is undefined.
void ScTraceSink::put(sc_dt::sc_lv_base& bits, int word, std::uint64_t data, bool driven) {
  const int kept = std::min(bits.length() - word * kWordBits, kWordBits);
  const std::uint64_t mask = (std::uint64_t{1} << kept) - 1;
  bits.set_word(word, static_cast<sc_dt::sc_digit>(driven ? data & mask : 0));
  bits.set_cword(word, static_cast<sc_dt::sc_digit>(driven ? 0 : mask));
}

void ScTraceSink::set(std::size_t signal, std::uint64_t value) {
  Variable& variable = variables_[signal];
  if (variable.value == value) return;
  variable.value = value;
  const bool driven = value != Probes::kUndriven;
  for (int word = 0; word * kWordBits < variable.bits.length(); ++word)
    put(variable.bits, word, word < 2 ? value >> (word * kWordBits) : 0, driven);
}

void ScTraceSink::set(std::size_t signal, std::string_view text) {
  Variable& variable = variables_[signal];
  if (variable.value != Probes::kUndriven && variable.text == text) return;
  variable.value = 0;  // it has one
  variable.text = text;
  const std::string_view shown = text.substr(0, kTextBytes);
  for (unsigned word = 0; word < kTextBytes / 4; ++word) {
    std::uint64_t data = 0;
    for (unsigned byte = 4 * word; byte < 4 * word + 4 && byte < shown.size(); ++byte) {
      const auto character = static_cast<unsigned char>(shown[shown.size() - 1 - byte]);
      data |= std::uint64_t{character} << 8 * (byte % 4);
    }
    put(variable.bits, static_cast<int>(word), data, true);
  }
}

void ScTraceSink::end(std::uint64_t) {
  for (std::size_t i = 0; i < variables_.size(); ++i) set(i, Probes::kUndriven);
}

}  // namespace weft::vcd
