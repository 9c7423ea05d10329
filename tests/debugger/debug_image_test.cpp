// What a debugger reads of a program: its lines, the places of its registers, and the ELF file.
#include "debugger/debug_image.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "debugger/target_registers.h"
#include "weft/ptx/named_registers.h"

namespace weft::debugger {
namespace debug_image_test {

using ::testing::HasSubstr;

constexpr char kPtx[] = R"(.version 7.0
.target sm_70
.address_size 64
.file 1 "steps.cu"
.visible .entry _Z5stepsPj(.param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  .loc 1 12 0
  setp.eq.u32 %p1, %r1, 3;
  @%p1 add.u32 %r1, %r1, 100;
  .loc 1 14 0
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
)";

struct Decoded {
  ptx::Module module = ptx::parse(kPtx, "steps.ptx");
  ptx::Symbols symbols = ptx::listing_symbols(module);
  std::shared_ptr<const ptx::Program> program =
      std::make_shared<const ptx::Program>(ptx::decode(module, "_Z5stepsPj", symbols));
  std::vector<ptx::NamedRegister> registers =
      ptx::named_registers({{&module, &symbols}}, "_Z5stepsPj", ptx::DecodeOptions());
};

TEST(DebugImage, LinesAreThoseOfLoc) {
  const Decoded decoded;
  const auto lines = lines_of(*decoded.program);
  EXPECT_EQ(decoded.program->files[lines[0].file], "steps.cu");
  EXPECT_EQ(lines[0].line, 12u);  // before the first .loc
  EXPECT_EQ(lines[2].line, 12u);
  EXPECT_EQ(lines[3].line, 14u);
}

// A register is where its value will be read: not before it is written, and not behind its last use.
TEST(DebugImage, RegistersAreWhereTheyAreLive) {
  const Decoded decoded;
  CodeSpace space;
  const Code& code = space.add(decoded.program, decoded.registers);
  EXPECT_EQ(place_of(code, "%r1", 0), nullptr);
  for (ptx::Pc pc = 1; pc <= 6; ++pc) EXPECT_NE(place_of(code, "%r1", pc), nullptr) << pc;
  EXPECT_EQ(place_of(code, "%r1", 7), nullptr);
  ASSERT_NE(place_of(code, "%p1", 2), nullptr);
  EXPECT_EQ(place_of(code, "%p1", 2)->index, decoded.program->code[2].guard);
  EXPECT_EQ(place_of(code, "%rd3", 6)->index, decoded.program->code[6].src[0].index);
  EXPECT_EQ(place_of(code, "%r3", 3), nullptr);
}

TEST(DebugImage, IsAnElfFile) {
  const Decoded decoded;
  CodeSpace space;
  const Code& code = space.add(decoded.program, decoded.registers);
  const std::string image = debug_image({&code}, {{"table", 0x100000000, 64}}, "/tmp", true);
  Elf64_Ehdr header;
  ASSERT_GE(image.size(), sizeof header);
  std::memcpy(&header, image.data(), sizeof header);
  EXPECT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
  EXPECT_EQ(header.e_machine, EM_RISCV);
  EXPECT_EQ(header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr), image.size());
  EXPECT_THAT(image, HasSubstr("_Z5stepsPj"));
  EXPECT_THAT(image, HasSubstr("table"));
}

TEST(DebugImage, NamesArePlain) {
  EXPECT_EQ(plain_name("_Z5stepsPj"), "steps");
  EXPECT_EQ(plain_name("vadd"), "vadd");
  EXPECT_EQ(plain_name("_Z5scaleIfEvPT_"), "scale");
  EXPECT_EQ(plain_name("_ZN3abc4workEv"), "work");
}

TEST(DebugImage, RegistersOfTheArchitectureKeepTheirNames) {
  const Decoded decoded;
  CodeSpace space;
  Code code = space.add(decoded.program, decoded.registers);
  code.registers.push_back({"%a0", ptx::Type::kF64, {}});
  TargetRegisters registers;
  registers.add(code);
  EXPECT_THAT(registers.description(), HasSubstr("name=\"r1\" bitsize=\"32\" type=\"uint32\""));
  EXPECT_THAT(registers.description(), HasSubstr("name=\"p1\" bitsize=\"8\""));
  EXPECT_THAT(registers.description(), HasSubstr("name=\"a0_\" bitsize=\"64\" type=\"ieee_double\""));
}

}  // namespace debug_image_test
}  // namespace weft::debugger
