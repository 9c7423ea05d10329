#include "soc/elf_image.h"

#include <elf.h>

#include <cstring>

#include "common/input_file.h"
#include "weft/common/error.h"

namespace weft::soc {
namespace {

// A structure at `offset` of the file.
template <class T>
T at(const std::string& content, std::uint64_t offset, const std::string& name, const char* what) {
  if (offset > content.size() || content.size() - offset < sizeof(T))
    throw InputError(name, std::string(what) + " at byte " + std::to_string(offset) + " is outside the file");
  T value;
  std::memcpy(&value, content.data() + offset, sizeof value);
  return value;
}

}  // namespace

ElfImage ElfImage::parse(const std::string& content, const std::string& name) {
  if (content.size() < sizeof(Elf64_Ehdr) || content.compare(0, SELFMAG, ELFMAG) != 0)
    throw InputError(name, "is not an ELF file");
  const auto header = at<Elf64_Ehdr>(content, 0, name, "the header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    throw InputError(name, "is an ELF file, but not 64-bit little-endian");
  if (header.e_type != ET_EXEC)
    throw InputError(name, "is of ELF type " + std::to_string(header.e_type) +
                               "; allowed: an executable at fixed addresses (type 2)");
  if (header.e_phentsize != sizeof(Elf64_Phdr)) throw InputError(name, "has program headers of another size");

  ElfImage image;
  image.entry = header.e_entry;
  image.machine = header.e_machine;
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto part = at<Elf64_Phdr>(content, header.e_phoff + i * std::uint64_t{sizeof(Elf64_Phdr)}, name,
                                     "a program header");
    if (part.p_type != PT_LOAD || part.p_memsz == 0) continue;
    if (part.p_filesz > part.p_memsz || part.p_offset > content.size() ||
        content.size() - part.p_offset < part.p_filesz || part.p_memsz > kMostBytes ||
        part.p_paddr + part.p_memsz < part.p_paddr) {
      throw InputError(name,
                       "program header " + std::to_string(i) + " names bytes beyond the end of the file");
    }
    sum += part.p_memsz;
    if (sum > kMostBytes) throw InputError(name, "takes more than 1 GiB of memory");
    Segment segment{part.p_paddr, std::vector<unsigned char>(part.p_memsz)};
    std::memcpy(segment.bytes.data(), content.data() + part.p_offset, part.p_filesz);
    image.segments.push_back(std::move(segment));
  }
  if (image.segments.empty()) throw InputError(name, "has no segment to load");
  return image;
}

ElfImage ElfImage::read(const std::string& path) {
  return parse(read_input(path), path);
}

}  // namespace weft::soc
