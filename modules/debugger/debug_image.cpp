#include "debugger/debug_image.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace weft::debugger {
namespace {

// DWARF 4, section 7.
constexpr unsigned kTagCompileUnit = 0x11, kTagSubprogram = 0x2e;
constexpr unsigned kName = 0x03, kStatements = 0x10, kLowPc = 0x11, kHighPc = 0x12, kLanguage = 0x13,
                   kFolder = 0x1b, kProducer = 0x25, kExternal = 0x3f;
constexpr unsigned kFormAddress = 0x01, kFormData2 = 0x05, kFormData8 = 0x07, kFormString = 0x08,
                   kFormOffset = 0x17, kFormPresent = 0x19;
// As a function of assembly has no prologue, GDB puts a breakpoint on its very first instruction.
constexpr unsigned kAssembler = 0x8001;
constexpr unsigned kStackPointer = 2, kReturnAddress = 1;  // registers of RISC-V

class Bytes {
 public:
  template <class Value>
  void add(Value value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void byte(unsigned value) { text_ += static_cast<char>(value); }
  void string(const std::string& value) { text_.append(value.c_str(), value.size() + 1); }
  void unsigned_leb(std::uint64_t value) {
    do {
      const auto low = static_cast<unsigned>(value & 0x7f);
      value >>= 7;
      byte(low | (value != 0 ? 0x80u : 0u));
    } while (value != 0);
  }
  void signed_leb(std::int64_t value) {
    bool more = true;
    while (more) {
      const auto low = static_cast<unsigned>(value & 0x7f);
      value >>= 7;
      more = !((value == 0 && (low & 0x40) == 0) || (value == -1 && (low & 0x40) != 0));
      byte(low | (more ? 0x80u : 0u));
    }
  }
  // A 32-bit length of what follows, which end_length fills in.
  std::size_t begin_length() {
    add(std::uint32_t{0});
    return text_.size();
  }
  void end_length(std::size_t begin) {
    const auto length = static_cast<std::uint32_t>(text_.size() - begin);
    std::copy_n(reinterpret_cast<const char*>(&length), 4, text_.begin() + static_cast<long>(begin) - 4);
  }
  void pad(std::size_t multiple, unsigned with) {
    while (text_.size() % multiple != 0) byte(with);
  }
  std::size_t size() const { return text_.size(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A kernel, or a device function in its program.
struct Routine {
  std::string name;
  ptx::Pc first = 0, last = 0;  // inclusive
};

std::vector<Routine> routines_of(const ptx::Program& program) {
  const auto size = static_cast<ptx::Pc>(program.code.size());
  const ptx::Pc own = program.functions.empty() ? size : program.functions[0].first;
  std::vector<Routine> all{{program.name, 0, own - 1}};
  for (const ptx::FunctionCode& function : program.functions)
    all.push_back({function.name, function.first, function.last});
  return all;
}

std::string abbreviations() {
  Bytes out;
  const auto entry = [&](unsigned number, unsigned tag, bool children,
                         const std::vector<std::array<unsigned, 2>>& attributes) {
    out.unsigned_leb(number);
    out.unsigned_leb(tag);
    out.byte(children ? 1 : 0);
    for (const auto& [attribute, form] : attributes) {
      out.unsigned_leb(attribute);
      out.unsigned_leb(form);
    }
    out.add(std::uint16_t{0});
  };
  entry(1, kTagCompileUnit, true,
        {{kProducer, kFormString},
         {kLanguage, kFormData2},
         {kName, kFormString},
         {kFolder, kFormString},
         {kLowPc, kFormAddress},
         {kHighPc, kFormData8},
         {kStatements, kFormOffset}});
  entry(2, kTagSubprogram, false,
        {{kName, kFormString}, {kExternal, kFormPresent}, {kLowPc, kFormAddress}, {kHighPc, kFormData8}});
  out.byte(0);
  return out.text();
}

void add_unit(Bytes& out, const Code& code, const std::vector<ptx::SourcePlace>& lines,
              const std::string& folder, std::uint32_t line_offset) {
  const std::size_t begin = out.begin_length();
  out.add(std::uint16_t{4});  // version
  out.add(std::uint32_t{0});  // of .debug_abbrev
  out.byte(8);                // bytes of an address
  out.unsigned_leb(1);
  out.string("weft");
  out.add(static_cast<std::uint16_t>(kAssembler));
  const ptx::Program& program = *code.program;
  out.string(program.files[lines[0].file]);
  out.string(folder);
  out.add(code.base);
  out.add(code.bytes());
  out.add(line_offset);
  for (const Routine& routine : routines_of(program)) {
    out.unsigned_leb(2);
    out.string(plain_name(routine.name));
    out.add(code.address_of(routine.first));
    out.add(std::uint64_t{routine.last - routine.first + 1} * kInstructionBytes);
  }
  out.byte(0);
  out.end_length(begin);
}

void add_line_header(Bytes& out, const ptx::Program& program) {
  const std::size_t header = out.begin_length();
  out.byte(static_cast<unsigned>(kInstructionBytes));  // shortest instruction
  out.byte(1);                                         // operations of an instruction
  out.byte(1);                                         // rows begin a statement
  out.byte(static_cast<unsigned>(-5) & 0xffu);         // line base, line range: of opcodes that are not used
  out.byte(14);
  constexpr std::array<std::uint8_t, 12> kOperands{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  out.byte(kOperands.size() + 1);
  for (const std::uint8_t operands : kOperands) out.byte(operands);
  out.byte(0);  // no folders
  for (const std::string& file : program.files) {
    out.string(file.empty() ? "?" : file);
    out.byte(0), out.byte(0), out.byte(0);  // folder, time, length
  }
  out.byte(0);
  out.end_length(header);
}

void add_lines(Bytes& out, const Code& code, const std::vector<ptx::SourcePlace>& lines) {
  constexpr unsigned kCopy = 1, kAdvancePc = 2, kAdvanceLine = 3, kSetFile = 4;
  constexpr unsigned kEndSequence = 1, kSetAddress = 2;
  const ptx::Program& program = *code.program;
  const std::size_t begin = out.begin_length();
  out.add(std::uint16_t{4});
  add_line_header(out, program);
  const auto extended = [&](unsigned opcode, std::size_t bytes) {
    out.byte(0);
    out.unsigned_leb(bytes + 1);
    out.byte(opcode);
  };
  extended(kSetAddress, 8);
  out.add(code.base);
  ptx::Pc at = 0;
  std::uint32_t file = 0, line = 1;  // of the state machine; its files count from 1
  const auto advance = [&](ptx::Pc to) {
    out.byte(kAdvancePc);
    out.unsigned_leb(to - at);
    at = to;
  };
  for (const Routine& routine : routines_of(program)) {
    for (ptx::Pc pc = routine.first; pc <= routine.last; ++pc) {
      const ptx::SourcePlace place = lines[pc];
      if (pc != routine.first && place.file == file && place.line == line) continue;
      advance(pc);
      if (place.file != file) {
        out.byte(kSetFile);
        out.unsigned_leb(place.file + 1);
      }
      out.byte(kAdvanceLine);
      out.signed_leb(std::int64_t{place.line} - line);
      out.byte(kCopy);
      file = place.file;
      line = place.line;
    }
  }
  advance(static_cast<ptx::Pc>(program.code.size()));
  extended(kEndSequence, 0);
  out.end_length(begin);
}

// A kernel has no caller. A device function finds where it returns to in its frame (kFramesEnd).
class Frames {
 public:
  Frames() {
    constexpr unsigned kUndefined = 0x07, kOffset = 0x80;
    kernels_ = begin_common(0);
    out_.byte(kUndefined);
    out_.unsigned_leb(kReturnAddress);
    end();
    functions_ = begin_common(kFrameBytes);
    out_.byte(kOffset | kReturnAddress);
    out_.unsigned_leb((kFrameBytes - kReturnOffset) / kUnit);
    end();
  }
  void add(std::uint64_t address, std::uint64_t bytes, bool is_kernel) {
    begin_ = out_.begin_length();
    out_.add(is_kernel ? kernels_ : functions_);
    out_.add(address);
    out_.add(bytes);
    end();
  }
  const std::string& text() const { return out_.text(); }

 private:
  static constexpr std::uint64_t kUnit = 8;  // of offsets, downwards

  // Returns where the common entry lies. The frame ends so many bytes above the stack pointer.
  std::uint32_t begin_common(std::uint64_t bytes) {
    const auto at = static_cast<std::uint32_t>(out_.size());
    constexpr unsigned kDefineFrame = 0x0c;
    begin_ = out_.begin_length();
    out_.add(UINT32_MAX);
    out_.byte(4);  // version
    out_.byte(0);  // no augmentation
    out_.byte(8);  // bytes of an address
    out_.byte(0);  // of a segment
    out_.unsigned_leb(kInstructionBytes);
    out_.signed_leb(-static_cast<std::int64_t>(kUnit));
    out_.unsigned_leb(kReturnAddress);
    out_.byte(kDefineFrame);
    out_.unsigned_leb(kStackPointer);
    out_.unsigned_leb(bytes);
    return at;
  }
  void end() {
    out_.pad(4, 0);
    out_.end_length(begin_);
  }

  Bytes out_;
  std::size_t begin_ = 0;
  std::uint32_t kernels_ = 0, functions_ = 0;
};

class Symbols {
 public:
  Symbols() {
    names_.byte(0);
    table_.add(Elf64_Sym{});
  }
  void add(const std::string& name, unsigned type, unsigned section, std::uint64_t address,
           std::uint64_t bytes) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names_.size());
    symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type));
    symbol.st_shndx = static_cast<Elf64_Section>(section);
    symbol.st_value = address;
    symbol.st_size = bytes;
    names_.string(name);
    table_.add(symbol);
  }
  const std::string& table() const { return table_.text(); }
  const std::string& names() const { return names_.text(); }

 private:
  Bytes table_, names_;
};

// Sections one behind the other, and the table of them at the end.
class ElfFile {
 public:
  ElfFile() {
    headers_.push_back({});
    names_.byte(0);
  }
  // Returns the section's number.
  unsigned add(const std::string& name, const std::string& content, Elf64_Shdr header) {
    header.sh_name = static_cast<Elf64_Word>(names_.size());
    header.sh_offset = sizeof(Elf64_Ehdr) + content_.size();
    header.sh_size = content.size();
    if (header.sh_addralign == 0) header.sh_addralign = 1;
    names_.string(name);
    content_ += content;
    content_.resize((content_.size() + 7) / 8 * 8, '\0');
    headers_.push_back(header);
    return static_cast<unsigned>(headers_.size() - 1);
  }
  unsigned add(const std::string& name, const std::string& content) {
    Elf64_Shdr header{};
    header.sh_type = SHT_PROGBITS;
    return add(name, content, header);
  }
  std::string finish() {
    Elf64_Shdr header{};
    header.sh_type = SHT_STRTAB;
    const std::string own_name = ".shstrtab";
    std::string names = names_.text();
    names.append(own_name.c_str(), own_name.size() + 1);
    const unsigned number = add(own_name, names, header);
    Elf64_Ehdr file{};
    std::copy_n(ELFMAG, SELFMAG, file.e_ident);
    file.e_ident[EI_CLASS] = ELFCLASS64;
    file.e_ident[EI_DATA] = ELFDATA2LSB;
    file.e_ident[EI_VERSION] = EV_CURRENT;
    file.e_ident[EI_OSABI] = ELFOSABI_STANDALONE;
    file.e_type = ET_EXEC;
    file.e_machine = EM_RISCV;
    file.e_version = EV_CURRENT;
    file.e_shoff = sizeof file + content_.size();
    file.e_ehsize = sizeof file;
    file.e_shentsize = sizeof(Elf64_Shdr);
    file.e_shnum = static_cast<Elf64_Half>(headers_.size());
    file.e_shstrndx = static_cast<Elf64_Half>(number);
    std::string all(reinterpret_cast<const char*>(&file), sizeof file);
    all += content_;
    return all.append(reinterpret_cast<const char*>(headers_.data()), headers_.size() * sizeof(Elf64_Shdr));
  }

 private:
  std::vector<Elf64_Shdr> headers_;
  std::string content_;
  Bytes names_;
};

// Nops from `base` on, up to the end of the last code.
unsigned add_text(ElfFile& file, const std::vector<const Code*>& codes, std::uint64_t base) {
  const std::uint64_t end =
      codes.empty() ? base + kInstructionBytes : codes.back()->base + codes.back()->bytes();
  Bytes text;
  for (std::uint64_t at = base; at < end; at += kInstructionBytes) text.add(kNop);
  Elf64_Shdr header{};
  header.sh_type = SHT_PROGBITS;
  header.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  header.sh_addr = base;
  header.sh_addralign = kInstructionBytes;
  return file.add(".text", text.text(), header);
}

}  // namespace

std::string plain_name(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || demangled == nullptr) return name;
  const std::string full = demangled.get();
  std::string plain = full.substr(0, full.find_first_of("(<"));
  const std::size_t before = plain.find_last_of(" :");  // a template's result, or a namespace
  if (before != std::string::npos) plain.erase(0, before + 1);
  return plain.empty() ? name : plain;
}

std::vector<ptx::SourcePlace> lines_of(const ptx::Program& program) {
  std::vector<ptx::SourcePlace> lines(program.code.size());
  for (const Routine& routine : routines_of(program)) {
    ptx::SourcePlace later;  // the first .loc behind the instruction
    for (ptx::Pc pc = routine.last + 1; pc-- > routine.first;) {
      const ptx::Instruction& in = program.code[pc];
      if (in.source.line != 0) later = in.source;
      lines[pc] = later.line != 0 ? later : in.ptx;
    }
  }
  return lines;
}

std::string debug_image(const std::vector<const Code*>& codes, const std::vector<DataSymbol>& data,
                        const std::string& folder, bool begins) {
  ElfFile file;
  Symbols symbols;
  Frames frames;
  const std::uint64_t base = begins || codes.empty() ? kCodeBase : codes.front()->base;
  const unsigned text = add_text(file, codes, base);
  if (begins) {
    symbols.add("thread_ended", STT_FUNC, text, kThreadEnded, kInstructionBytes);
    frames.add(kThreadEnded, kInstructionBytes, true);
  }
  Bytes units, line_programs;
  for (const Code* code : codes) {
    const std::vector<ptx::SourcePlace> lines = lines_of(*code->program);
    add_unit(units, *code, lines, folder, static_cast<std::uint32_t>(line_programs.size()));
    add_lines(line_programs, *code, lines);
    for (const Routine& routine : routines_of(*code->program)) {
      const std::uint64_t address = code->address_of(routine.first);
      const std::uint64_t bytes = (routine.last - routine.first + 1) * kInstructionBytes;
      symbols.add(routine.name, STT_FUNC, text, address, bytes);
      frames.add(address, bytes, routine.first == 0);
    }
  }
  for (const DataSymbol& symbol : data)
    symbols.add(symbol.name, STT_OBJECT, SHN_ABS, symbol.address, symbol.bytes);
  file.add(".debug_info", units.text());
  file.add(".debug_abbrev", abbreviations());
  file.add(".debug_line", line_programs.text());
  file.add(".debug_frame", frames.text());
  Elf64_Shdr names{};
  names.sh_type = SHT_STRTAB;
  const unsigned strings = file.add(".strtab", symbols.names(), names);
  Elf64_Shdr table{};
  table.sh_type = SHT_SYMTAB;
  table.sh_link = strings;
  table.sh_info = 1;  // the first one that is global
  table.sh_entsize = sizeof(Elf64_Sym);
  table.sh_addralign = 8;
  file.add(".symtab", symbols.table(), table);
  return file.finish();
}

}  // namespace weft::debugger
