// Opens named files without waiting for ever: opening a named pipe waits for somebody at its other end, who
// may never come.
#ifndef WEFT_COMMON_OPEN_FILE_H
#define WEFT_COMMON_OPEN_FILE_H

#include <sys/types.h>

#include <string>

namespace weft {

// How long somebody may take to come to the other end of a named pipe.
inline constexpr int kPipeSeconds = 5;

// A descriptor that belongs to this object; below 0: none.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

// Opens for reading, and never waits; reading does not wait either, until let_wait() is called.
int open_to_read(const std::string& path);
// Waits for a writer, if the file is a pipe, and then lets reading wait for data. `text` gets what was read
// meanwhile. False, with errno: nobody writes to the pipe (ENXIO), or the system's reason.
bool let_wait(int file, std::string& text);

// Opens for writing, with flags such as O_CREAT. A named pipe gets some time to find a reader. -1, with
// errno: nobody reads from the pipe (ENXIO), or the system's reason.
int open_to_write(const std::string& path, int flags, mode_t mode = 0);

// The system's reason in words; ENXIO is that of a pipe.
std::string reason_of(int error);

}  // namespace weft

#endif
