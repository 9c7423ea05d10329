#include "study/session/log_stream.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <utility>

#include "common/output_files.h"

namespace weft::study {

LogStream::LogStream(std::string path)
    : std::ostream(static_cast<std::streambuf*>(this)), path_(std::move(path)), file_(open_output(path_)) {}

LogStream::~LogStream() {
  finish();
}

bool LogStream::finish() {
  LogStream::sync();
  // Some file systems notice a full disk or a quota only here.
  if (file_ >= 0 && close(std::exchange(file_, -1)) != 0) give_up(errno);
  return !failed_;
}

std::streambuf::int_type LogStream::overflow(std::streambuf::int_type character) {
  using Traits = std::streambuf::traits_type;
  if (!Traits::eq_int_type(character, Traits::eof())) line_ += Traits::to_char_type(character);
  return Traits::not_eof(character);
}

std::streamsize LogStream::xsputn(const char* text, std::streamsize bytes) {
  line_.append(text, static_cast<std::size_t>(bytes));
  return bytes;
}

int LogStream::sync() {
  if (file_ >= 0) {
    if (const int reason = write_all(file_, line_); reason != 0) give_up(reason);
  }
  if (file_ < 0) std::cout << line_ << std::flush;
  line_.clear();
  return 0;
}

void LogStream::give_up(int reason) {
  failed_ = true;
  if (file_ >= 0) close(std::exchange(file_, -1));
  std::cerr << "weft: " << path_ << ": cannot be written: " << std::strerror(reason)
            << "; further output goes to standard output\n";
}

}  // namespace weft::study
