// A file that grows while a simulation runs: through a buffer, and whatever the disk has room for stays
// readable.
//
//   GrowingFile file("trace.csv", "\n");
//   file.text() += "a,b\n";
//   file.grown();                 // after each piece: now and then it is written
//   file.close();
#ifndef WEFT_COMMON_GROWING_FILE_H
#define WEFT_COMMON_GROWING_FILE_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace weft {

class GrowingFile {
 public:
  // Creates the file, or empties it. Throws InputError if that is impossible. A piece of text ends before
  // `boundary`, behind its line feed.
  GrowingFile(std::string path, std::string boundary);
  // How many of these bytes, which begin with a piece, are whole pieces.
  using Whole = std::function<std::size_t(std::string_view)>;
  GrowingFile(std::string path, Whole whole);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  // What comes next is appended here; nothing of it is kept once the file is closed.
  std::string& text() { return buffer_; }
  // A piece is complete.
  void grown() {
    if (buffer_.size() >= kBufferBytes) flush();
  }
  void flush();
  // Writes what is left. A second call does nothing.
  void close();

  const std::string& path() const { return path_; }
  // Bytes so far, written or not.
  std::uint64_t bytes() const { return file_bytes_ + buffer_.size(); }
  // False after close() and after an error. An error does not throw, because the simulation should go on: the
  // file is cut back to its last complete piece and closed.
  bool open() const { return file_ >= 0; }
  // What went wrong, with the file's name; empty: nothing.
  const std::string& error() const { return error_; }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

  void fail(int reason);

  const std::string path_;
  const Whole whole_;
  int file_ = -1;
  std::string error_, buffer_;
  std::uint64_t file_bytes_ = 0;  // before the buffer
};

}  // namespace weft

#endif
