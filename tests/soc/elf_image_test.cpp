#include "soc/elf_image.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "weft/common/error.h"

namespace weft::soc::elf_image_test {
namespace {

// One segment: 4 bytes of the file, 8 in memory.
std::string small_elf(void (*spoil)(Elf64_Ehdr&, Elf64_Phdr&) = nullptr) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_EXEC;
  header.e_machine = EM_RISCV;
  header.e_entry = 0x8000'0004;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr part{};
  part.p_type = PT_LOAD;
  part.p_offset = sizeof header + sizeof part;
  part.p_paddr = 0x8000'0000;
  part.p_filesz = 4;
  part.p_memsz = 8;
  if (spoil != nullptr) spoil(header, part);
  std::string content(reinterpret_cast<const char*>(&header), sizeof header);
  content.append(reinterpret_cast<const char*>(&part), sizeof part);
  return content + "abcd";
}

TEST(ElfImage, SegmentsAreTheFileThenZeros) {
  const ElfImage image = ElfImage::parse(small_elf(), "test");
  EXPECT_EQ(image.entry, 0x8000'0004u);
  EXPECT_EQ(image.machine, ElfImage::kRiscV);
  ASSERT_EQ(image.segments.size(), 1u);
  EXPECT_EQ(image.segments[0].address, 0x8000'0000u);
  EXPECT_EQ(image.segments[0].bytes, (std::vector<unsigned char>{'a', 'b', 'c', 'd', 0, 0, 0, 0}));
}

TEST(ElfImage, WhatIsNoExecutableIsRefused) {
  const auto refused = [](const std::string& content) {
    EXPECT_THROW(ElfImage::parse(content, "test"), InputError);
  };
  refused("");
  refused("not an ELF file, but long enough to have a header: ........................");
  refused(small_elf([](Elf64_Ehdr& h, Elf64_Phdr&) { h.e_ident[EI_CLASS] = ELFCLASS32; }));
  refused(small_elf([](Elf64_Ehdr& h, Elf64_Phdr&) { h.e_ident[EI_DATA] = ELFDATA2MSB; }));
  refused(small_elf([](Elf64_Ehdr& h, Elf64_Phdr&) { h.e_type = ET_DYN; }));
  refused(small_elf([](Elf64_Ehdr& h, Elf64_Phdr&) { h.e_phentsize = 8; }));
  refused(small_elf([](Elf64_Ehdr& h, Elf64_Phdr&) { h.e_phoff = ~std::uint64_t{0} - 8; }));
  refused(small_elf([](Elf64_Ehdr& h, Elf64_Phdr&) { h.e_phnum = 2; }));
  refused(small_elf([](Elf64_Ehdr& h, Elf64_Phdr&) { h.e_phnum = 0; }));
  refused(small_elf([](Elf64_Ehdr&, Elf64_Phdr& p) { p.p_offset = ~std::uint64_t{0}; }));
  refused(small_elf([](Elf64_Ehdr&, Elf64_Phdr& p) { p.p_filesz = 5, p.p_memsz = 5; }));
  refused(small_elf([](Elf64_Ehdr&, Elf64_Phdr& p) { p.p_memsz = 3; }));
  refused(small_elf([](Elf64_Ehdr&, Elf64_Phdr& p) { p.p_memsz = std::uint64_t{1} << 40; }));
  refused(small_elf([](Elf64_Ehdr&, Elf64_Phdr& p) { p.p_paddr = ~std::uint64_t{0} - 3; }));
}

// Whatever is cut off or flipped: an image or an InputError.
TEST(ElfImage, SpoiltFilesNeverCrash) {
  const std::string good = small_elf();
  unsigned refused = 0;
  const auto try_one = [&](const std::string& content) {
    try {
      ElfImage::parse(content, "test");
    } catch (const InputError&) {
      ++refused;
    }
  };
  for (std::size_t length = 0; length < good.size(); ++length) try_one(good.substr(0, length));
  EXPECT_EQ(refused, good.size());  // nothing of it can be missing
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int flip : {1, 0x80, 0xff}) {
      std::string content = good;
      content[i] = static_cast<char>(content[i] ^ flip);
      try_one(content);
    }
  }
}

// What is no file, or never ends.
TEST(ElfImage, IsReadFromAFileWithinALimit) {
  const auto said = [](const std::string& path) -> std::string {
    try {
      ElfImage::read(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(said("/"), "/: cannot be read: Is a directory");
  EXPECT_EQ(said("/nowhere"), "/nowhere: cannot be read: No such file or directory");
  EXPECT_EQ(said("/dev/zero"), "/dev/zero: has more than 268435456 bytes; allowed: up to 268435456");
}

}  // namespace
}  // namespace weft::soc::elf_image_test
