#include "silicon/vectors.h"

#include <zlib.h>

#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "conformance/numbers.h"
#include "silicon/compressed.h"
#include "silicon/warp_cases.h"

namespace weft::test::silicon {
namespace {

using conformance::Case;
using conformance::Cells;
using conformance::Outcome;

unsigned bytes_of(conformance::Type type) {
  return (type.width() + 7) / 8;
}

std::uint64_t hash(const std::vector<Cells>& operands) {  // FNV-1a
  std::uint64_t h = 0xcbf29ce484222325;
  for (const Cells& x : operands) {
    for (const std::uint64_t cell : x) {
      for (unsigned i = 0; i < 8; ++i) h = (h ^ (cell >> (8 * i) & 0xff)) * 0x100000001b3;
    }
  }
  return h;
}

std::vector<std::uint8_t> pack(const Case& c, const std::vector<Cells>& results) {
  std::vector<std::uint8_t> packed;
  for (const Cells& d : results) {
    for (std::size_t i = 0; i < c.results.size(); ++i) {
      for (unsigned b = 0; b < bytes_of(c.results[i]); ++b) {
        packed.push_back(static_cast<std::uint8_t>(d[i] >> (8 * b)));
      }
    }
  }
  return packed;
}

std::vector<Cells> unpack(const Case& c, const std::vector<std::uint8_t>& packed) {
  std::vector<Cells> results;
  for (std::size_t at = 0; at < packed.size();) {
    Cells d{};
    for (std::size_t i = 0; i < c.results.size(); ++i) {
      for (unsigned b = 0; b < bytes_of(c.results[i]) && at < packed.size(); ++b) {
        d[i] |= static_cast<std::uint64_t>(packed[at++]) << (8 * b);
      }
    }
    results.push_back(d);
  }
  return results;
}

std::vector<Case> cases_recorded(const std::string& opcode) {
  std::vector<Case> cases = conformance::cases_of(opcode);
  if (cases.empty()) cases = warp_cases(opcode);
  if (cases.size() > kCasesPerOpcode) cases.resize(kCasesPerOpcode);
  return cases;
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

struct Close {
  void operator()(gzFile_s* file) const { gzclose(file); }
};
using File = std::unique_ptr<gzFile_s, Close>;

std::string next_line(gzFile_s* file) {
  char line[4096];
  if (gzgets(file, line, sizeof line) == nullptr) return "";
  std::string text = line;
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

Vectors record(conformance::Machine& machine, const std::vector<std::string>& opcodes, unsigned operands,
               std::uint64_t seed) {
  Vectors vectors;
  vectors.operands = operands;
  vectors.seed = seed;
  std::optional<conformance::Bench> bench;
  for (const std::string& opcode : opcodes) {
    const std::vector<Case> cases = cases_recorded(opcode);
    for (std::size_t n = 0; n < cases.size(); ++n) {
      Recorded recorded;
      recorded.opcode = opcode;
      recorded.number = n;
      try {
        if (!bench) bench.emplace(machine);
        const Outcome outcome = bench->run(cases[n], operands, seed);
        recorded.operand_hash = hash(outcome.operands);
        recorded.results = pack(cases[n], outcome.results);
      } catch (const conformance::Lost& fault) {
        recorded.refused = one_line(fault.what());
        bench.reset();
      } catch (const std::exception& error) {
        recorded.refused = one_line(error.what());
      }
      vectors.cases.push_back(std::move(recorded));
    }
  }
  return vectors;
}

void write(const Vectors& v, const std::string& path) {
  std::string text = "weft vectors 1\ngpu " + one_line(v.gpu) + "\ncapability " + v.capability + "\ndriver " +
                     std::to_string(v.driver) + "\noperands " + std::to_string(v.operands) + "\nseed " +
                     std::to_string(v.seed) + "\n";
  for (const Recorded& r : v.cases) {
    const std::string name = r.opcode + " " + std::to_string(r.number) + " ";
    if (!r.refused.empty()) {
      text += "refused " + name + r.refused + "\n";
      continue;
    }
    text += "case " + name + std::to_string(r.operand_hash) + " " + std::to_string(r.results.size()) + "\n";
    text.append(r.results.begin(), r.results.end());
  }
  write_compressed(text, path);
}

Vectors read(const std::string& path) {
  const File file(gzopen(path.c_str(), "rb"));
  if (!file) throw std::runtime_error("cannot read " + path);
  const auto bad = [&](const std::string& what) { return std::runtime_error(path + ": " + what); };
  if (next_line(file.get()) != "weft vectors 1") throw bad("not a file of vectors");
  const auto value = [&](const std::string& key) {
    const std::string line = next_line(file.get());
    if (line.rfind(key + " ", 0) != 0) throw bad("expected '" + key + "', found '" + line + "'");
    return line.substr(key.size() + 1);
  };
  Vectors v;
  v.gpu = value("gpu");
  v.capability = value("capability");
  v.driver = std::stoi(value("driver"));
  v.operands = static_cast<unsigned>(std::stoul(value("operands")));
  v.seed = std::stoull(value("seed"));
  for (std::string line; !(line = next_line(file.get())).empty();) {
    std::istringstream words(line);
    std::string kind;
    Recorded r;
    words >> kind >> r.opcode >> r.number;
    if (kind == "refused") {
      std::getline(words >> std::ws, r.refused);
    } else {
      std::size_t bytes = 0;
      if (kind != "case" || !(words >> r.operand_hash >> bytes) || bytes > 1u << 24)
        throw bad("found '" + line + "'");
      r.results.resize(bytes);
      if (gzread(file.get(), r.results.data(), static_cast<unsigned>(bytes)) != static_cast<int>(bytes)) {
        throw bad("ends in the middle of " + r.opcode);
      }
    }
    v.cases.push_back(std::move(r));
  }
  return v;
}

namespace {

using conformance::Format;
using conformance::Type;

// The number format of a result in which an instruction may have made a NaN; moves, loads and selections keep
// the bits that they get. tf32 has the layout of f32.
std::optional<Type> arithmetic_type(const Case& c, std::size_t result) {
  if (c.family != "Float" && c.family != "Convert" && c.family != "Atomic") return std::nullopt;
  if (c.opcode.find(".tf32") != std::string::npos) return Type{'f', 32, 1};
  if (!c.results[result].is_float()) return std::nullopt;
  return c.results[result];
}

// PTX ISA 9.0, 9.7.3: "NaN payloads are supported for double-precision instructions", "single-precision
// instructions return an unspecified NaN"; of abs and neg: "NaN inputs yield an unspecified NaN". It does not
// say which of several NaNs an f64 keeps.
bool same_nan(const Case& c, const Cells& operands, const Type& part, std::uint64_t a, std::uint64_t b) {
  const Format f = conformance::format_of(part);
  if (!f.is_nan(a) || !f.is_nan(b)) return false;
  unsigned nans = 0;
  for (std::size_t i = 0; i < c.sources.size(); ++i) {
    if (!(c.sources[i] == Type{'f', 64, 1})) return true;
    nans += f.is_nan(operands[i]) ? 1 : 0;
  }
  return part.bits != 64 || nans != 1 || f.quiet(f.magnitude(a)) == f.quiet(f.magnitude(b));
}

bool agree(const Case& c, const Cells& operands, std::size_t result, std::uint64_t a, std::uint64_t b) {
  if (a == b) return true;
  const std::optional<Type> type = arithmetic_type(c, result);
  if (!type) return false;
  for (unsigned k = 0; k < type->parts; ++k) {
    const std::uint64_t x = conformance::low_bits(type->bits, a >> (type->bits * k));
    const std::uint64_t y = conformance::low_bits(type->bits, b >> (type->bits * k));
    if (x != y && !same_nan(c, operands, type->part(), x, y)) return false;
  }
  return true;
}

// What is wrong with one case; "" if nothing is.
std::string difference(const Case& c, const Recorded& recorded, const Outcome& here, std::size_t& open) {
  if (hash(here.operands) != recorded.operand_hash)
    return "other operands: the vectors are of another generator";
  const std::vector<Cells> there = unpack(c, recorded.results);
  if (there.size() != here.results.size()) return "another number of results";
  std::string first;
  for (std::size_t n = 0; n < there.size(); ++n) {
    if (c.open && c.open(here.operands[n])) {
      ++open;
      continue;
    }
    bool same = true;
    for (std::size_t i = 0; i < c.results.size(); ++i)
      same = same && agree(c, here.operands[n], i, there[n][i], here.results[n][i]);
    if (same || !first.empty() || (c.error && c.error(here.operands[n], there[n]) <= 1)) continue;
    std::ostringstream text;
    text << std::hex << "operands";
    for (std::size_t i = 0; i < c.sources.size(); ++i) text << " 0x" << here.operands[n][i];
    text << ": silicon";
    for (std::size_t i = 0; i < c.results.size(); ++i) text << " 0x" << there[n][i];
    text << ", Weft";
    for (std::size_t i = 0; i < c.results.size(); ++i) text << " 0x" << here.results[n][i];
    first = text.str();
  }
  return first;
}

}  // namespace

Comparison compare(const Vectors& vectors, conformance::Machine& straight, conformance::Machine& whole,
                   const std::set<std::string>& known) {
  Comparison comparison;
  conformance::Bench straight_bench(straight), whole_bench(whole);
  for (const Recorded& recorded : vectors.cases) {
    const std::vector<Case> cases = cases_recorded(recorded.opcode);
    std::string why;
    if (!recorded.refused.empty()) {
      ++comparison.refused;
      continue;
    }
    if (recorded.number >= cases.size()) {
      why = "no such case here";
    } else {
      const Case& c = cases[recorded.number];
      conformance::Bench& bench = c.family == "Control" || c.family == "Warp" ? whole_bench : straight_bench;
      const Outcome here = bench.run(c, vectors.operands, vectors.seed);
      why = difference(c, recorded, here, comparison.open);
      ++comparison.cases;
      comparison.results += here.results.size();
    }
    if (why.empty()) continue;
    const std::string mnemonic = recorded.opcode.substr(0, recorded.opcode.find('.'));
    if (known.count(mnemonic) != 0) {
      ++comparison.departures[mnemonic];
      continue;
    }
    ++comparison.wrong;
    comparison.text += recorded.opcode + " (case " + std::to_string(recorded.number) + "): " + why + "\n";
  }
  return comparison;
}

}  // namespace weft::test::silicon
