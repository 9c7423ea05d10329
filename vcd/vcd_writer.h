// Writes a value change dump (VCD; IEEE 1364-2005, section 18), with the string variables that GTKWave and
// Surfer understand beside it. sc_trace writes all of a run or nothing; this writes a window of it.
//
//   VcdWriter vcd("run.vcd");
//   vcd.open_scope("gpu");
//   const auto lanes = vcd.vector("active_lanes", 16);
//   vcd.close_scope();
//   vcd.end_definitions();
//   vcd.set(lanes, 32);      // before begin(): only remembered
//   vcd.begin(1000);         // dumps all values
//   vcd.at(2000);
//   vcd.set(lanes, 16);      // a change is written, a repetition is not
//   vcd.end(3000);
//
// Times are picoseconds. The file grows under its own name, so that a run that is killed leaves what there
// is.
#ifndef WEFT_VCD_VCD_WRITER_H
#define WEFT_VCD_VCD_WRITER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/growing_file.h"

namespace weft::vcd {

class VcdWriter {
 public:
  enum class Signal : std::uint32_t {};
  // The value of a vector to which nothing is assigned: z in the file.
  static constexpr std::uint64_t kUndriven = ~std::uint64_t{0};
  static constexpr unsigned kMaxWidth = 63;

  // Creates the file, or empties it. Throws InputError if that is impossible.
  explicit VcdWriter(std::string path);
  ~VcdWriter();
  VcdWriter(const VcdWriter&) = delete;
  VcdWriter& operator=(const VcdWriter&) = delete;

  // Definitions. Names and scopes may not be empty or contain white space; a vector has 1 to kMaxWidth bits
  // and is undriven at first, a text is "-". Anything else throws std::logic_error.
  void comment(std::string_view text);
  void open_scope(std::string_view name);
  void close_scope();
  Signal vector(std::string_view name, unsigned width);
  Signal text(std::string_view name);
  // Throws InputError if the header cannot be written.
  void end_definitions();

  // Starts the dump with every signal's value at `time`. A second call does nothing.
  void begin(std::uint64_t time);
  // Changes from now on happen at `time`, which is not before an earlier one.
  void at(std::uint64_t time) { time_ = time; }
  // `value` fits the vector's width, or is kUndriven.
  void set(Signal vector, std::uint64_t value) {
    std::uint64_t& held = values_[static_cast<std::size_t>(vector)].number;
    if (held == value) return;
    held = value;
    if (begun_) write_change(vector);
  }
  // White space in `value` is written as '_': the format has no way to quote it.
  void set(Signal text, std::string_view value);
  // Gives the last values a width: they hold until `time`. Closes the file. A second call does nothing.
  void end(std::uint64_t time);

  // False after end() and after an error. An error while dumping does not throw, because the simulation
  // should go on: the file is cut back to its last complete time step and closed.
  bool open() const { return file_.open(); }
  // What went wrong, with the file's name; empty: nothing.
  const std::string& error() const { return file_.error(); }

 private:
  // The signal's name in the dump, with the space before it and the line feed behind it. 2^32 signals need 5
  // characters.
  struct Code {
    std::array<char, 7> text{};
    std::uint8_t size = 0;
  };
  struct Value {
    std::uint64_t number = kUndriven;
    Code code;
    bool is_text = false;
    std::string text;  // of a text only
  };

  Signal add(std::string_view type, unsigned width, std::string_view name);
  void write_change(Signal signal);
  void write_value(const Value& value);
  void append_gathered();

  GrowingFile file_;
  std::string& buffer_;  // starts at a time step, once the header is written
  std::vector<Value> values_;
  static constexpr std::size_t kMostLine = 1 + kMaxWidth + 1 + sizeof(Code);
  std::array<char, 4096> lines_{};  // that come next in the buffer
  std::size_t gathered_ = 0;        // bytes of them
  bool begun_ = false;
  std::uint64_t time_ = 0, written_time_ = 0;
};

}  // namespace weft::vcd

#endif
