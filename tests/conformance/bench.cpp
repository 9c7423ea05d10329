#include <cstring>
#include <sstream>

#include "conformance/machine.h"
#include "conformance/words.h"

namespace weft::test::conformance {
namespace {

constexpr unsigned kMostThreads = 2048, kBlock = 128;

template <class T>
std::vector<std::uint8_t> bytes_of(const T& value) {
  std::vector<std::uint8_t> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

Cells draw(const Case& c, const std::function<Cells(Random&)>& operands, Random& random) {
  Cells x{};
  if (operands) {
    x = operands(random);
  } else {
    for (std::size_t i = 0; i < c.sources.size(); ++i) x[i] = random_value(c.sources[i], random);
  }
  for (std::size_t i = 0; i < c.sources.size(); ++i) x[i] = low_bits(c.sources[i].width(), x[i]);
  return x;
}

}  // namespace

Bench::Bench(Machine& machine)
    : machine_(machine),
      in_(machine.allocate(kMostThreads * kOperandBytes)),
      out_(machine.allocate(kMostThreads * kResultBytes)) {}

void Bench::launch(const Case& c, const std::vector<Cells>& operands, Random& random,
                   std::vector<Cells>& results) {
  const auto threads = static_cast<unsigned>(operands.size());
  std::vector<Cells> in(threads), out(threads);
  for (unsigned t = 0; t < threads; ++t) {
    for (std::size_t i = 0; i < in[t].size(); ++i) {
      const unsigned width = i < c.sources.size() ? c.sources[i].width() : 0;
      const std::uint64_t rubbish = width == 0 ? random() : width < 64 ? random() << width : 0;
      in[t][i] = operands[t][i] | rubbish;
    }
  }
  std::vector<std::vector<std::uint8_t>> arguments = {bytes_of(in_), bytes_of(out_)};
  if (!c.copy_to.empty()) {  // the two first cells of each thread, one behind the other
    std::vector<std::uint8_t> packed(16 * threads);
    for (unsigned t = 0; t < threads; ++t) std::memcpy(packed.data() + 16 * t, in[t].data(), 16);
    if (c.copy_to == "param") {
      arguments.push_back(packed);
    } else {
      machine_.write(machine_.variable(c.copy_to), packed.data(), packed.size());
    }
  }
  machine_.write(in_, in.data(), threads * kOperandBytes);
  machine_.write(out_, out.data(), threads * kResultBytes);
  machine_.launch(threads / kBlock, kBlock, arguments);
  machine_.read(out.data(), out_, threads * kResultBytes);
  for (Cells& d : out) {
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (i >= c.results.size()) d[i] = 0;
    }
  }
  results.insert(results.end(), out.begin(), out.end());
}

Outcome Bench::run(const Case& c, unsigned count, std::uint64_t seed) {
  if (count == 0) count = c.wanted;
  machine_.load(module_text(c, machine_.header()));
  Outcome outcome;
  Random random(seed);
  const auto operands = c.operands;  // a copy: generators have a state, which begins anew
  while (outcome.operands.size() < count) {
    const auto left = static_cast<unsigned>(count - outcome.operands.size());
    const unsigned threads = std::min(c.threads, (left + kBlock - 1) / kBlock * kBlock);
    std::vector<Cells> x;
    for (unsigned t = 0; t < threads; ++t) x.push_back(draw(c, operands, random));
    outcome.operands.insert(outcome.operands.end(), x.begin(), x.end());
    launch(c, x, random, outcome.results);
  }
  return outcome;
}

namespace {

void describe(std::ostream& out, const Case& c, const Cells& x, const Cells& found, const Cells& expected) {
  out << c.opcode << std::hex;
  for (std::size_t i = 0; i < c.sources.size(); ++i) out << (i != 0 ? ", 0x" : " 0x") << x[i];
  out << ": found";
  for (std::size_t i = 0; i < c.results.size(); ++i) out << " 0x" << found[i];
  if (!c.error) {
    out << ", expected";
    for (std::size_t i = 0; i < c.results.size(); ++i) out << " 0x" << expected[i];
  }
  out << std::dec;
}

}  // namespace

Verdict judge(const Case& c, const Outcome& outcome) {
  Verdict verdict;
  std::ostringstream text;
  for (std::size_t n = 0; n < outcome.results.size(); ++n) {
    const Cells& x = outcome.operands[n];
    const Cells& found = outcome.results[n];
    Cells expected{};
    bool right = true;
    if (c.error) {
      const double error = c.error(x, found);
      right = error <= 1;
      verdict.worst = std::max(verdict.worst, error);
    } else {
      expected = c.expected(x);
      for (std::size_t i = 0; i < c.results.size(); ++i) right = right && found[i] == expected[i];
    }
    if (right || ++verdict.wrong > 5) continue;
    describe(text, c, x, found, expected);
    text << '\n';
  }
  verdict.text = text.str();
  return verdict;
}

}  // namespace weft::test::conformance
