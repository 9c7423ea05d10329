// The signals of a GPU in a trace file of SystemC's, as an integrator has one, held against the waveform that
// Weft writes of the same run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <systemc>

#include "folder.h"
#include "platform/gpu_bench.h"
#include "platform/scale_kernel.h"
#include "vcd/vcd_reader.h"
#include "weft/common/error.h"

namespace weft::vcd::sc_trace_test {
namespace {

using ::testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// What SystemC writes, read without a word of Weft's: words, whatever the lines. Values by time, in ps.
class ScTrace {
 public:
  explicit ScTrace(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> scopes;
    std::map<std::string, std::string> names;  // by code
    std::uint64_t time = 0;
    for (std::string word; in >> word;) {
      if (word == "$date" || word == "$version" || word == "$comment") {
        while (in >> word && word != "$end") {
        }
      } else if (word == "$timescale") {
        for (; in >> word && word != "$end";) timescale += word;
      } else if (word == "$scope") {
        in >> word >> word;
        scopes.push_back(word);
        in >> word;
      } else if (word == "$upscope") {
        scopes.pop_back();
        in >> word;
      } else if (word == "$var") {
        std::string kind, width, code, name;
        in >> kind >> width >> code >> name;
        while (in >> word && word != "$end") {
        }
        std::string full;
        for (std::size_t i = 1; i < scopes.size(); ++i)
          full += scopes[i] + ".";  // the first is SystemC's own
        names[code] = full + name;
        widths[full + name] = static_cast<unsigned>(std::stoul(width));
      } else if (word[0] == '#') {
        time = std::stoull(word.substr(1));
      } else if (word[0] == 'b') {
        std::string code;
        in >> code;
        waves[names.at(code)][time] = word.substr(1);
      } else if (word[0] != '$') {
        waves[names.at(word.substr(1))][time] = word.substr(0, 1);
      }
    }
  }

  // In effect at `time`, without leading zeros; "z": none.
  std::string at(const std::string& name, std::uint64_t time) const {
    const auto& wave = waves.at(name);
    auto found = wave.upper_bound(time);
    if (found == wave.begin()) return "";
    const std::string& value = std::prev(found)->second;
    if (value.find_first_not_of("zZ") == std::string::npos) return "z";
    const std::size_t first = value.find('1');
    return first == std::string::npos ? "0" : value.substr(first);
  }

  std::string timescale;
  std::map<std::string, unsigned> widths;
  std::map<std::string, std::map<std::uint64_t, std::string>> waves;
};

// The last 32 characters' worth of bits that stand for a text.
std::string as_bits(const std::string& text) {
  std::string bits;
  for (const char c : text == "-" ? "" : text.substr(0, 32)) {
    for (int bit = 7; bit >= 0; --bit) bits += (c >> bit & 1) != 0 ? '1' : '0';
  }
  const std::size_t first = bits.find('1');
  return first == std::string::npos ? "0" : bits.substr(first);
}

std::string in_effect(const Wave& wave, std::uint64_t time) {
  std::string value;
  for (const Change& change : wave.changes) {
    if (change.time <= time) value = change.value;
  }
  if (wave.type == "string") return as_bits(value);
  return value;
}

// A machine with two schedulers to an SM, and a trace file of the integrator's with a signal of his own.
class Traced {
 public:
  explicit Traced(const std::vector<std::string>& overrides = {"sm.count=2"})
      : bench(overrides), file_(sc_core::sc_create_vcd_trace_file(folder.path("all").c_str())) {
    file_->set_time_unit(1, sc_core::SC_PS);
    sc_core::sc_trace(file_, own, "own");
  }
  ~Traced() { close(); }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

  void run() {
    bench.load(test::scale_kernel());
    const auto in = bench.zeros(4 * kThreads), out = bench.zeros(4 * kThreads);
    for (int launch = 0; launch < 3; ++launch) {
      own = launch + 1;
      bench.run({kThreads / 64, 1, 1}, {64, 1, 1}, runtime::Arguments().add(in).add(out));
      pauses.insert(sc_core::sc_time_stamp().value());
    }
  }
  ScTrace trace() {
    gpu().recordings().close_waveforms();
    close();
    return ScTrace(text_of(folder.path("all.vcd")));
  }
  Vcd ours(const std::string& name = "ours.vcd") { return read_vcd(text_of(folder.path(name))); }
  Gpu& gpu() { return bench.device.gpu(); }
  sc_core::sc_trace_file* file() { return file_; }

  static constexpr std::uint32_t kThreads = 2048;
  const test::Folder folder;
  test::GpuBench bench;
  int own = 0;
  std::set<std::uint64_t> pauses;  // SystemC does not look at values of the instant in which it is paused

 private:
  void close() {
    if (file_ != nullptr) sc_core::sc_close_vcd_trace_file(file_);
    file_ = nullptr;
  }
  sc_core::sc_trace_file* file_;
};

// All signals have one value at all times at which our own file has a change.
void expect_same(const Vcd& ours, const ScTrace& theirs, const std::string& gpu,
                 const std::set<std::uint64_t>& pauses) {
  EXPECT_EQ(theirs.timescale, "1ps");
  std::size_t compared = 0;
  for (const auto& [name, wave] : ours.waves) {
    const std::string there = gpu + name.substr(name.find('.'));
    ASSERT_EQ(theirs.waves.count(there), 1u) << there;
    EXPECT_EQ(theirs.widths.at(there), wave.type == "string" ? 256 : wave.width) << there;
    for (const Change& change : wave.changes) {
      if (pauses.count(change.time) != 0) continue;
      ASSERT_EQ(theirs.at(there, change.time), in_effect(wave, change.time))
          << there << " at " << change.time << " ps";
      ++compared;
    }
    // Nor does it change when ours does not.
    for (const auto& [time, value] : theirs.waves.at(there)) {
      if (time < ours.begin || time >= ours.end) continue;
      ASSERT_EQ(theirs.at(there, time), in_effect(wave, time)) << there << " at " << time << " ps";
    }
  }
  EXPECT_GT(compared, 10'000u);
}

TEST(ScTraceFile, HasEverySignalAsOurOwnFileHasIt) {
  Traced traced;
  // As sc_trace calls it, through the object that everything in SystemC is.
  static_cast<const sc_core::sc_object&>(traced.gpu()).trace(traced.file());
  traced.gpu().recordings().write_waveform(traced.folder.path("ours.vcd"));
  traced.run();
  const ScTrace theirs = traced.trace();
  const Vcd ours = traced.ours();
  EXPECT_EQ(theirs.waves.size(), ours.waves.size() + 1);
  EXPECT_EQ(theirs.waves.at("own").size(), 3u) << "beside the integrator's own";
  expect_same(ours, theirs, traced.gpu().name(), traced.pauses);
  // The scalars that it is about did move.
  std::size_t moved = 0;
  for (const char* signal :
       {".sm1.scheduler1.pc", ".sm0.memory.l1d.mshr.in_use", ".crossbar.port0.requests", ".kernel"})
    EXPECT_GT(theirs.waves.at(traced.gpu().name() + std::string(signal)).size(), 2u) << signal;
  for (const auto& [name, wave] : theirs.waves)
    moved +=
        name.find(".bank") != std::string::npos && name.find(".row") != std::string::npos && wave.size() > 1;
  EXPECT_GT(moved, 10u) << "rows of DRAM banks";
}

// The installed save file of GTKWave has the names and ranges that SystemC writes, for a GPU named `gpu`.
TEST(ScTraceFile, HasTheNamesOfItsSaveFile) {
  Traced traced;
  traced.gpu().trace(traced.file(), "*");
  traced.gpu().recordings().write_waveform(traced.folder.path("ours.vcd"), "*");
  traced.run();
  const ScTrace theirs = traced.trace();
  const std::string own = text_of(WEFT_VCD_FOLDER "/weft.gtkw"), save = text_of(WEFT_SC_TRACE_SAVE_FILE);
  std::size_t shown = 0;
  for (const auto& [name, wave] : traced.ours().waves) {
    const std::string there = traced.gpu().name() + name.substr(name.find('.'));
    const unsigned width = theirs.widths.at(there);
    std::string line = "} " + name, traced_line = "} SystemC." + name;
    if (wave.width != 1) line += "[" + std::to_string(width - 1) + ":0]";
    if (width != 1) traced_line += "[" + std::to_string(width - 1) + ":0]";
    if (own.find(line + "\n") == std::string::npos) continue;
    ++shown;
    EXPECT_NE(save.find(traced_line + "\n"), std::string::npos) << traced_line;
  }
  EXPECT_GT(shown, 100u);
}

// The clock, too, which falls between the instants at which SystemC has anything else to do.
TEST(ScTraceFile, HasTheClockAndTheWarpsAsOurOwnFileHasThem) {
  Traced traced;
  traced.gpu().trace(traced.file(), "clock,sm0");
  traced.gpu().recordings().write_waveform(traced.folder.path("ours.vcd"), "clock,sm0");
  traced.run();
  const ScTrace theirs = traced.trace();
  expect_same(traced.ours(), theirs, traced.gpu().name(), traced.pauses);
  EXPECT_GT(theirs.waves.at(traced.gpu().name() + std::string(".clock")).size(), 1000u);
  EXPECT_GT(theirs.waves.at(traced.gpu().name() + std::string(".sm0.warp0.state")).size(), 10u);
}

TEST(ScTraceFile, HasThoseSelectedWhenSelected) {
  Traced traced;
  SignalSelection second("sm1,launch");
  second.first_launch = second.last_launch = 2;
  traced.gpu().trace(traced.file(), second);
  traced.gpu().recordings().write_waveform(traced.folder.path("ours.vcd"), second);
  traced.gpu().recordings().write_waveform(traced.folder.path("whole.vcd"), "launch");
  traced.run();
  const ScTrace theirs = traced.trace();
  const Vcd ours = traced.ours(), whole = traced.ours("whole.vcd");
  const std::string gpu = traced.gpu().name();
  for (const auto& [name, wave] : theirs.waves) {
    if (name == "own") continue;
    EXPECT_TRUE(name.rfind(gpu + ".sm1.", 0) == 0 || name == gpu + ".launch") << name;
    EXPECT_EQ(theirs.at(name, ours.begin - 1), "z") << name;
    // The third launch begins at the last edge at which something may be seen.
    EXPECT_EQ(theirs.at(name, whole.end), "z") << name;
  }
  EXPECT_EQ(theirs.at(gpu + ".launch", ours.begin), "10");
  EXPECT_EQ(theirs.at(gpu + ".launch", ours.end - 1), "10");
  EXPECT_GT(theirs.waves.at(gpu + ".sm1.scheduler0.pc").size(), 10u);
  for (const auto& [name, wave] : ours.waves) {
    const std::string there = gpu + name.substr(name.find('.'));
    for (const Change& change : wave.changes) {
      if (traced.pauses.count(change.time) != 0) continue;
      ASSERT_EQ(theirs.at(there, change.time), in_effect(wave, change.time)) << there;
    }
  }
}

TEST(ScTraceFile, OfAWindowIsUndrivenOutside) {
  Traced traced;
  SignalSelection window("sm0.active_lanes,sm0.scheduler0.stall");
  window.first_cycle = 100;
  window.last_cycle = 149;
  traced.gpu().trace(traced.file(), window);
  traced.run();
  const ScTrace theirs = traced.trace();
  const double picoseconds = 1e6 / traced.gpu().config().clocks.core_mhz;
  for (const char* signal : {"active_lanes", "scheduler0.stall"}) {
    const std::string name = traced.gpu().name() + std::string(".sm0.") + signal;
    const auto at = [&](double cycle) {
      return theirs.at(name, static_cast<std::uint64_t>(cycle * picoseconds));
    };
    EXPECT_EQ(at(99.5), "z") << name;
    EXPECT_NE(at(100.5), "z") << name;
    EXPECT_NE(at(149.5), "z") << name;
    EXPECT_EQ(at(150.5), "z") << name;
  }
}

TEST(ScTraceFile, IsRefusedWhereItMakesNoSense) {
  Traced traced;
  const auto refused = [&](const SignalSelection& selection, const std::string& message) {
    try {
      traced.gpu().trace(traced.file(), selection);
      ADD_FAILURE() << message;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
      EXPECT_THAT(error.what(), HasSubstr(traced.gpu().name()));
    }
  };
  refused("sm2",
          "no signal is named 'sm2'; allowed: launch, kernel, blocks_done, blocks_total, sm0, sm1, crossbar");
  refused("sm0.scheduler0.*.x", "allowed: sm0.scheduler0.*, which is a signal");
  SignalSelection backwards;
  backwards.first_cycle = 5;
  backwards.last_cycle = 4;
  refused(backwards, "core cycles 5 to 4; allowed: an end at or after the start");
  SignalSelection launches;
  launches.first_launch = 3;
  launches.last_launch = 2;
  refused(launches, "launches 3 to 2");
  EXPECT_THROW(traced.gpu().trace(nullptr), InputError);
  const std::vector<std::string> names = traced.gpu().recordings().signals();
  EXPECT_NE(std::find(names.begin(), names.end(), "sm1.scheduler1.stall"), names.end());
  traced.run();
  refused({}, "before the simulation starts");
}

}  // namespace
}  // namespace weft::vcd::sc_trace_test
