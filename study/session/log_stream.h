// A stream of text into a file, device or pipe. What cannot be written there goes to standard output, and
// standard error says so once.
#ifndef WEFT_STUDY_SESSION_LOG_STREAM_H
#define WEFT_STUDY_SESSION_LOG_STREAM_H

#include <ostream>
#include <streambuf>
#include <string>

namespace weft::study {

class LogStream : private std::streambuf, public std::ostream {
 public:
  // A new file, or an emptied one. Throws InputError if it cannot be written.
  explicit LogStream(std::string path);
  ~LogStream() override;
  LogStream(const LogStream&) = delete;
  LogStream& operator=(const LogStream&) = delete;

  // Writes what is left and closes. False if anything went to standard output.
  bool finish();

 private:
  std::streambuf::int_type overflow(std::streambuf::int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize bytes) override;
  int sync() override;
  void give_up(int reason);

  const std::string path_;
  int file_;
  std::string line_;  // not written yet
  bool failed_ = false;
};

}  // namespace weft::study

#endif
