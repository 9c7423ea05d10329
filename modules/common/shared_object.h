// Looks at a shared object before dlopen() takes it into this process: what is wrong with it there ends the
// process without a message.
#ifndef WEFT_COMMON_SHARED_OBJECT_H
#define WEFT_COMMON_SHARED_OBJECT_H

#include <string>

namespace weft {

// Throws InputError unless it is a regular file that has all bytes of its ELF segments: a page behind the end
// of the file could not be read. What is no ELF file at all is left to dlopen(). Returns the file's bytes.
std::string read_shared_object(const std::string& path);

// Loads it in a process of its own first. Throws InputError if that process does not survive: a constructor
// of the object throws, or gets a signal. Behind an exception dlopen() could not be used any more.
void try_shared_object(const std::string& path);

}  // namespace weft

#endif
