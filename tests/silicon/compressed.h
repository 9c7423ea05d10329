// Files compressed by gzip, as text.
#ifndef WEFT_TESTS_SILICON_COMPRESSED_H
#define WEFT_TESTS_SILICON_COMPRESSED_H

#include <string>

namespace weft::test::silicon {

// Both throw std::runtime_error with the file's name.
void write_compressed(const std::string& text, const std::string& path);
std::string read_compressed(const std::string& path);

}  // namespace weft::test::silicon

#endif
