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

void ScTraceSink::set(std::size_t signal, std::uint64_t value) {
  Variable& variable = variables_[signal];
  if (variable.value == value) return;
  variable.value = value;
  if (value == Probes::kUndriven) {
    for (int bit = 0; bit < variable.bits.length(); ++bit) variable.bits.set_bit(bit, sc_dt::Log_Z);
  } else {
    // Word by word: an assignment shifts by 32 where the length is a multiple of that, which is undefined.
    constexpr int kWordBits = 32;
    const int length = variable.bits.length();
    for (int bit = 0; bit < length; bit += kWordBits) {
      const std::uint64_t rest = bit < 64 ? value >> bit : 0;
      const int kept = std::min(length - bit, kWordBits);
      variable.bits.set_word(bit / kWordBits,
                             static_cast<sc_dt::sc_digit>(rest & ((std::uint64_t{1} << kept) - 1)));
      variable.bits.set_cword(bit / kWordBits, 0);
    }
  }
}

void ScTraceSink::set(std::size_t signal, std::string_view text) {
  Variable& variable = variables_[signal];
  if (variable.value != Probes::kUndriven && variable.text == text) return;
  variable.value = 0;  // it has one
  variable.text = text;
  const std::string_view shown = text.substr(0, kTextBytes);
  for (unsigned byte = 0; byte < kTextBytes; ++byte) {
    const unsigned character =
        byte < shown.size() ? static_cast<unsigned char>(shown[shown.size() - 1 - byte]) : 0;
    for (unsigned bit = 0; bit < 8; ++bit) {
      variable.bits.set_bit(static_cast<int>(8 * byte + bit),
                            (character >> bit & 1) != 0 ? sc_dt::Log_1 : sc_dt::Log_0);
    }
  }
}

void ScTraceSink::end(std::uint64_t) {
  for (std::size_t i = 0; i < variables_.size(); ++i) set(i, Probes::kUndriven);
}

}  // namespace weft::vcd
