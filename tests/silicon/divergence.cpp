#include "silicon/divergence.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>

#include "silicon/compressed.h"

namespace weft::test::silicon {
namespace {

constexpr unsigned kWarps = 3, kThreads = 32, kWords = 64;
constexpr std::uint32_t kNothing = 0xffffffff;

std::uint64_t hash(const std::string& text) {  // FNV-1a
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

// Of the kernel as such: a machine's .version and .target do not count.
std::uint64_t hash_of(const DivergenceKernel& kernel) {
  return hash(module_of(kernel, ""));
}

// Four words for each thread: random; few values; the same in all threads but one.
std::vector<std::uint32_t> data_of(const std::string& name) {
  std::mt19937_64 random(hash(name));
  std::vector<std::uint32_t> data(std::size_t{kWarps} * kThreads * 4);
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto word = static_cast<std::uint32_t>(random());
    const std::size_t warp = i / (kThreads * 4), lane = i / 4 % kThreads;
    data[i] = word;
    if (warp == 1) data[i] = word % 3 == 0 ? 0x5555abcd : word % 3 == 1 ? 0x12345676 : 0x76543210;
    if (warp == 2 && lane != 0 && lane != 13) data[i] = data[i - 4];
  }
  return data;
}

std::vector<std::uint8_t> bytes_of(std::uint64_t value, std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  std::memcpy(bytes.data(), &value, size);
  return bytes;
}

// The buffers of a launch, and what they hold after it.
class Buffers {
 public:
  explicit Buffers(conformance::Machine& machine)
      : machine_(machine),
        log_(machine.allocate(kLogWords * 4)),
        data_(machine.allocate(kWarps * kThreads * 16)),
        values_(machine.allocate(kWarps * kThreads * 8)),
        words_(machine.allocate(kWarps * kWords * 4)) {}

  std::vector<WarpTrace> run(const DivergenceKernel& kernel, std::uint32_t bound) {
    const std::vector<std::uint32_t> data = data_of(kernel.name), none(kWarps * kWords);
    std::vector<std::uint32_t> log(kLogWords, kNothing), values(std::size_t{kWarps} * kThreads * 2, kNothing);
    put(log_, log);
    put(data_, data);
    put(values_, values);
    put(words_, none);
    machine_.launch(kWarps, kThreads,
                    {bytes_of(log_, 8), bytes_of(data_, 8), bytes_of(values_, 8), bytes_of(words_, 8),
                     bytes_of(bound, 4)});
    machine_.read(log.data(), log_, log.size() * 4);
    machine_.read(values.data(), values_, values.size() * 4);
    return traces(log, values, kernel.waits);
  }

 private:
  static constexpr std::size_t kLogWords = std::size_t{kWarps} * kThreads * kLogEntries * 4;

  void put(std::uint64_t to, const std::vector<std::uint32_t>& words) {
    machine_.write(to, words.data(), words.size() * 4);
  }
  static std::vector<WarpTrace> traces(const std::vector<std::uint32_t>& log,
                                       const std::vector<std::uint32_t>& values, bool waits);

  conformance::Machine& machine_;
  std::uint64_t log_, data_, values_, words_;
};

struct Entry {
  std::uint32_t point, mask, clock, zero;
};

// Entries of the same point, clock and mask are one visit.
std::vector<Visit> visits_of(const std::uint32_t* log) {
  std::map<std::array<std::uint32_t, 3>, std::uint32_t> visits;
  std::optional<std::uint32_t> first;
  for (unsigned lane = 0; lane < kThreads; ++lane) {
    for (unsigned i = 0; i < kLogEntries; ++i) {
      Entry entry{};
      std::memcpy(&entry, log + (std::size_t{lane} * kLogEntries + i) * 4, sizeof entry);
      if (entry.point == kNothing) break;
      if (i == kLogEntries - 1) throw std::runtime_error("the log of a thread is full");
      if (!first) first = entry.clock - 0x40000000;  // the clock may wrap around
      visits[{entry.clock - *first, entry.point, entry.mask}] |= 1u << lane;
    }
  }
  std::vector<Visit> list;
  list.reserve(visits.size());
  for (const auto& [key, threads] : visits) list.push_back({key[1], key[2], threads});
  return list;
}

std::vector<WarpTrace> Buffers::traces(const std::vector<std::uint32_t>& log,
                                       const std::vector<std::uint32_t>& values, bool waits) {
  std::vector<WarpTrace> warps(kWarps);
  for (unsigned w = 0; w < kWarps; ++w) {
    warps[w].visits = visits_of(log.data() + log.size() / kWarps * w);
    for (unsigned lane = 0; lane < kThreads; ++lane) {
      const std::size_t at = (std::size_t{w} * kThreads + lane) * 2;
      const std::uint32_t value = values[at];
      if (waits) {
        warps[w].turns[lane] = values[at + 1];
        warps[w].result |= value == 1 ? 1u << lane : 0;
      } else {
        warps[w].result = (warps[w].result ^ value) * 0x01000193;  // FNV-1a
      }
    }
  }
  return warps;
}

// For each thread the points that it executed and the masks there.
using Path = std::vector<std::pair<unsigned, std::uint32_t>>;
std::array<Path, kThreads> paths_of(const WarpTrace& warp) {
  std::array<Path, kThreads> paths;
  for (const Visit& visit : warp.visits) {
    for (unsigned lane = 0; lane < kThreads; ++lane) {
      if ((visit.threads >> lane & 1) != 0) paths[lane].emplace_back(visit.point, visit.mask);
    }
  }
  return paths;
}

// "steady", "order" or "masks", from two runs.
std::string steadiness(const std::vector<WarpTrace>& a, const std::vector<WarpTrace>& b) {
  bool order = true;
  for (std::size_t w = 0; w < a.size(); ++w) {
    if (paths_of(a[w]) != paths_of(b[w])) return "masks";
    order = order && a[w].visits == b[w].visits;
  }
  return order ? "steady" : "order";
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void run_all(Buffers& buffers, const DivergenceKernel& kernel, const Limits& limits, KernelTrace& trace) {
  trace.steady = "steady";
  for (unsigned run = 0; run < limits.runs; ++run) {
    std::vector<WarpTrace> warps = buffers.run(kernel, limits.bound);
    if (run == 0) {
      trace.warps = std::move(warps);
      continue;
    }
    const std::string now = steadiness(trace.warps, warps);
    if (now == "masks" || trace.steady == "steady") trace.steady = now;
  }
}

}  // namespace

Divergence record(conformance::Machine& machine, const std::vector<DivergenceKernel>& kernels,
                  const Limits& limits) {
  Divergence divergence;
  std::optional<Buffers> buffers;
  for (const DivergenceKernel& kernel : kernels) {
    KernelTrace trace;
    trace.name = kernel.name;
    trace.text_hash = hash_of(kernel);
    try {
      if (!buffers) buffers.emplace(machine);
      machine.load(module_of(kernel, machine.header()));
      run_all(*buffers, kernel, limits, trace);
    } catch (const conformance::Lost& fault) {
      trace.refused = one_line(fault.what());
      buffers.reset();
    } catch (const std::exception& error) {
      trace.refused = one_line(error.what());
    }
    divergence.kernels.push_back(std::move(trace));
  }
  return divergence;
}

namespace {

void print(std::ostream& text, const WarpTrace& warp) {
  text << "warp " << std::dec << warp.visits.size() << '\n';
  for (const Visit& visit : warp.visits) {
    text << std::dec << visit.point << ' ' << std::hex << visit.mask;
    if (visit.threads != visit.mask) text << ' ' << visit.threads;
    text << '\n';
  }
  text << "result " << std::hex << warp.result;
  const bool waited = warp.turns != std::array<std::uint32_t, kThreads>{};
  for (std::size_t i = 0; waited && i < kThreads; ++i) text << ' ' << warp.turns[i];
  text << std::dec << '\n';
}

std::string next_line(std::istream& text) {
  std::string line;
  std::getline(text, line);
  return line;
}

WarpTrace parse_warp(std::istream& text, std::size_t visits) {
  WarpTrace warp;
  for (; visits > 0; --visits) {
    std::istringstream in(next_line(text));
    Visit visit;
    in >> std::dec >> visit.point >> std::hex >> visit.mask;
    if (!in) throw std::runtime_error("a warp ends too early");
    if (!(in >> visit.threads)) visit.threads = visit.mask;
    warp.visits.push_back(visit);
  }
  std::istringstream in(next_line(text));
  std::string key;
  if (!(in >> key >> std::hex >> warp.result) || key != "result")
    throw std::runtime_error("a warp has no result");
  for (std::uint32_t& turns : warp.turns) in >> turns;
  return warp;
}

Divergence parse(std::istream& text) {
  if (next_line(text) != "weft divergence 1") throw std::runtime_error("not a file of divergence");
  const auto value = [&](const std::string& key) {
    const std::string line = next_line(text);
    if (line.rfind(key + " ", 0) != 0)
      throw std::runtime_error("expected '" + key + "', found '" + line + "'");
    return line.substr(key.size() + 1);
  };
  Divergence d;
  d.gpu = value("gpu");
  d.capability = value("capability");
  d.driver = std::stoi(value("driver"));
  d.optimisation = std::stoi(value("optimisation"));
  d.target = value("target");
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string kind;
    KernelTrace kernel;
    std::size_t visits = 0;
    words >> kind;
    if (kind == "warp" && words >> visits && !d.kernels.empty()) {
      d.kernels.back().warps.push_back(parse_warp(text, visits));
      continue;
    }
    words >> kernel.name >> kernel.text_hash;
    std::getline(words >> std::ws, kind == "refused" ? kernel.refused : kernel.steady);
    if ((kind != "kernel" && kind != "refused") || kernel.text_hash == 0)
      throw std::runtime_error("found '" + line + "'");
    d.kernels.push_back(std::move(kernel));
  }
  return d;
}

}  // namespace

void write(const Divergence& d, const std::string& path) {
  std::ostringstream text;
  text << "weft divergence 1\ngpu " << one_line(d.gpu) << "\ncapability " << d.capability << "\ndriver "
       << d.driver << "\noptimisation " << d.optimisation << "\ntarget " << d.target << '\n';
  for (const KernelTrace& kernel : d.kernels) {
    const bool ran = kernel.refused.empty();
    text << (ran ? "kernel " : "refused ") << kernel.name << ' ' << kernel.text_hash << ' '
         << (ran ? kernel.steady : kernel.refused) << '\n';
    for (const WarpTrace& warp : kernel.warps) print(text, warp);
  }
  write_compressed(text.str(), path);
}

Divergence read_divergence(const std::string& path) {
  std::istringstream text(read_compressed(path));
  try {
    return parse(text);
  } catch (const std::exception& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

namespace {

void compare_masks(std::uint32_t silicon, std::uint32_t weft, Agreement& agreement) {
  ++agreement.points;
  if (silicon == weft) return;
  if ((silicon & ~weft) == 0)
    ++agreement.fewer;
  else if ((weft & ~silicon) == 0)
    ++agreement.more;
  else
    ++agreement.other;
}

bool same_points(const Path& a, const Path& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

}  // namespace

Agreement compare(const KernelTrace& silicon, const KernelTrace& weft) {
  Agreement agreement;
  if (silicon.text_hash != weft.text_hash) agreement.wrong = "another kernel: the generator has changed";
  if (silicon.warps.size() != weft.warps.size()) agreement.wrong = "another number of warps";
  if (!agreement.wrong.empty()) return agreement;
  for (std::size_t w = 0; w < silicon.warps.size(); ++w) {
    const auto there = paths_of(silicon.warps[w]), here = paths_of(weft.warps[w]);
    ++agreement.warps;
    if (silicon.warps[w].result != weft.warps[w].result && agreement.wrong.empty())
      agreement.wrong = "warp " + std::to_string(w) + " has other results";
    agreement.same_order += silicon.warps[w].visits == weft.warps[w].visits ? 1 : 0;
    for (unsigned lane = 0; lane < kThreads; ++lane) {
      const std::string who = "warp " + std::to_string(w) + ", lane " + std::to_string(lane);
      if (!same_points(there[lane], here[lane])) {
        if (agreement.wrong.empty()) agreement.wrong = who + " takes another path";
        continue;
      }
      for (std::size_t i = 0; i < here[lane].size(); ++i)
        compare_masks(there[lane][i].second, here[lane][i].second, agreement);
    }
  }
  return agreement;
}

}  // namespace weft::test::silicon
