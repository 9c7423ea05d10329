#include "silicon/compressed.h"

#include <zlib.h>

#include <memory>
#include <stdexcept>

namespace weft::test::silicon {
namespace {

struct Close {
  void operator()(gzFile_s* file) const { gzclose(file); }
};
using File = std::unique_ptr<gzFile_s, Close>;

}  // namespace

void write_compressed(const std::string& text, const std::string& path) {
  File file(gzopen(path.c_str(), "wb9"));
  const auto bytes = static_cast<unsigned>(text.size());
  const bool written = file && gzwrite(file.get(), text.data(), bytes) == static_cast<int>(bytes);
  if (!written || gzclose(file.release()) != Z_OK) throw std::runtime_error("cannot write " + path);
}

std::string read_compressed(const std::string& path) {
  const File file(gzopen(path.c_str(), "rb"));
  if (!file) throw std::runtime_error("cannot read " + path);
  std::string text;
  char part[1 << 16];
  int bytes = 0;
  while ((bytes = gzread(file.get(), part, sizeof part)) > 0)
    text.append(part, static_cast<std::size_t>(bytes));
  if (bytes < 0) throw std::runtime_error("cannot read " + path);
  return text;
}

}  // namespace weft::test::silicon
