// Names that libcuda.so.1 exports against driver_entries.txt: every entry of <cuda.h> 13.0 by each of its
// names, with and without suffix. A program that refers to a name that is not there does not start.
#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "end_to_end/process.h"

namespace weft::entries_test {
namespace {

using ::testing::HasSubstr;

// By name: "", "refused" or "old" (the form of CUDA 3.1).
std::map<std::string, std::string> listed() {
  std::ifstream file(WEFT_ENTRIES);
  std::map<std::string, std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, kind;
    words >> name >> kind;
    names[name] = kind;
  }
  return names;
}

template <class T>
const T* at(const std::string& bytes, std::uint64_t offset) {
  return reinterpret_cast<const T*>(bytes.data() + offset);
}

// The dynamic symbols that an ELF file defines.
std::set<std::string> exported(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::set<std::string> names;
  const auto* const header = at<Elf64_Ehdr>(bytes, 0);
  const auto* const sections = at<Elf64_Shdr>(bytes, header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const auto* const symbols = at<Elf64_Sym>(bytes, sections[i].sh_offset);
    const std::uint64_t texts = sections[sections[i].sh_link].sh_offset;
    for (std::uint64_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k) {
      if (symbols[k].st_shndx != SHN_UNDEF) names.insert(bytes.data() + texts + symbols[k].st_name);
    }
  }
  return names;
}

TEST(DriverEntries, AreThoseOfTheList) {
  std::set<std::string> expected{"_exit", "_Exit"}, found = exported(LIBCUDA);
  for (const auto& [name, kind] : listed()) expected.insert(name);
  EXPECT_EQ(expected.size(), 639u);
  for (const std::string& name : expected) EXPECT_EQ(found.count(name), 1u) << name << " is not exported";
  for (const std::string& name : found) {
#if !defined(__SANITIZE_ADDRESS__)
    EXPECT_EQ(expected.count(name), 1u) << name << " is exported and not in the list";
#endif
  }
}

// A name without its suffix is always there, too.
TEST(DriverEntries, HaveTheirPlainNames) {
  const auto names = listed();
  for (const auto& [name, kind] : names) {
    std::string plain = name;
    for (const char* suffix : {"_ptsz", "_ptds", "_v2", "_v3", "_v4"}) {
      const std::size_t length = std::strlen(suffix);
      if (plain.size() > length && plain.compare(plain.size() - length, length, suffix) == 0)
        plain.resize(plain.size() - length);
    }
    EXPECT_EQ(names.count(plain), 1u) << name;
  }
}

// What is not provided gives its error, and says once who it is.
TEST(DriverEntries, RefusedOnesNameThemselves) {
  const auto run = end_to_end::weft({"cuda", "--quiet", "--", DRIVER_ENTRIES, WEFT_ENTRIES});
  EXPECT_EQ(run.code, 0) << run.err;
  std::istringstream lines(run.err);
  std::map<std::string, std::string> said;
  for (std::string line; std::getline(lines, line);) {
    const std::string start = "weft: ";
    ASSERT_EQ(line.rfind(start, 0), 0u) << line;
    const std::string name = line.substr(start.size(), line.find(':', start.size()) - start.size());
    EXPECT_TRUE(said.emplace(name, line).second) << line;
  }
  for (const auto& [name, kind] : listed()) {
    if (kind.empty()) {
      EXPECT_EQ(said.count(name), 0u) << name;
    } else {
      EXPECT_THAT(said[name], HasSubstr("is not provided")) << name;
      EXPECT_THAT(said[name], HasSubstr(kind == "old" ? name + "_v2" : "is not provided"));
    }
  }
}

}  // namespace
}  // namespace weft::entries_test
