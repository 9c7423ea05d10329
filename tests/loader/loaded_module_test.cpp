#include "weft/loader/loaded_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "ptx/syntax.h"
#include "weft/common/error.h"

namespace weft::loader {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

constexpr std::uint64_t kBase = 0x1'0000'0100;

struct Memory {
  std::uint64_t placed = 0;  // bytes asked for
  std::map<std::uint64_t, std::vector<std::uint8_t>> written;

  std::uint64_t next_function = 0;

  LoadedModule load(ptx::Module module) {
    std::vector<ptx::Module> modules;
    modules.push_back(std::move(module));
    return load(std::move(modules));
  }
  LoadedModule load(std::vector<ptx::Module> modules) {
    return LoadedModule(
        std::move(modules),
        [this](std::uint64_t bytes) {
          placed += bytes;
          return kBase;
        },
        [this](std::uint64_t address, const std::vector<std::uint8_t>& bytes) { written[address] = bytes; },
        next_function);
  }
};

ptx::Variable variable(const std::string& name, std::uint64_t size, std::uint64_t align,
                       std::vector<std::uint8_t> initial = {}) {
  ptx::Variable made;
  made.name = name;
  made.size = size;
  made.align = align;
  made.initial = std::move(initial);
  return made;
}

ptx::Module module_of(std::vector<ptx::Variable> variables) {
  ptx::Module module;
  module.file = "m.ptx";
  module.text = std::make_shared<ptx::ModuleText>();
  module.variables = std::move(variables);
  return module;
}

TEST(LoadedModule, ManagedVariablesLieElsewhereIfThereIsAnElsewhere) {
  auto managed = variable("both", 8, 8, {7});
  managed.managed = true;
  ptx::Module module = module_of({variable("first", 4, 4), managed, variable("last", 4, 4)});
  std::vector<ptx::Module> modules{module};
  std::uint64_t placed = 0, apart = 0, next_function = 0;
  std::map<std::uint64_t, std::uint8_t> written;
  const LoadedModule loaded(
      modules, [&](std::uint64_t bytes) { return placed = bytes, kBase; },
      [&](std::uint64_t address, const std::vector<std::uint8_t>& bytes) { written[address] = bytes.at(0); },
      next_function, [&](std::uint64_t bytes) { return apart = bytes, std::uint64_t{0x5000}; });
  EXPECT_EQ(loaded.address_of("first", nullptr), kBase);
  EXPECT_EQ(loaded.address_of("last", nullptr), kBase + 4);
  EXPECT_EQ(loaded.address_of("both", nullptr), 0x5000u);
  EXPECT_EQ(placed, 8u);
  EXPECT_EQ(apart, 8u);
  EXPECT_EQ(written.at(0x5000), 7);
  Memory memory;
  EXPECT_EQ(memory.load(module).address_of("both", nullptr), kBase + 8);
}

TEST(LoadedModule, PlacesVariablesAlignedAndInitialised) {
  Memory memory;
  auto constant = variable("table", 4, 64, {1, 2});
  constant.space = ptx::Space::kConst;
  auto shared = variable("tile", 1024, 16);
  shared.space = ptx::Space::kShared;
  const LoadedModule module = memory.load(module_of({variable("byte", 1, 1, {9}), constant, shared}));

  std::uint64_t bytes = 0;
  EXPECT_EQ(module.address_of("byte", &bytes), kBase);
  EXPECT_EQ(bytes, 1u);
  EXPECT_EQ(module.address_of("table", &bytes), kBase + 64);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(memory.placed, 68u) << "shared memory takes no device memory";
  EXPECT_THAT(memory.written.at(kBase), ElementsAre(9));
  EXPECT_THAT(memory.written.at(kBase + 64), ElementsAre(1, 2, 0, 0));
}

TEST(LoadedModule, RelocatesAddressesOfOtherVariables) {
  Memory memory;
  auto pointer = variable("pointer", 16, 8);
  pointer.relocations.push_back({8, "target", 3, true});
  const LoadedModule module = memory.load(module_of({pointer, variable("target", 4, 4)}));
  ASSERT_EQ(module.address_of("target", nullptr), kBase + 16);
  EXPECT_THAT(memory.written.at(kBase), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0x13, 0x01, 0, 0, 1, 0, 0, 0));
}

ptx::Module text_of(const std::string& symbols, const std::string& file) {
  return ptx::parse(".version 7.0\n.target sm_70\n.address_size 64\n" + symbols, file);
}

std::vector<ptx::Module> all_of(std::initializer_list<ptx::Module> modules) {
  return modules;
}

TEST(LoadedModule, RelocatesAddressesOfFunctions) {
  Memory memory;
  memory.next_function = 5;
  const LoadedModule module = memory.load(text_of(
      ".func f() { ret; }\n.func g() { ret; }\n.global .u64 table[2] = {g, f};\n.entry k() { ret; }\n",
      "m.ptx"));
  EXPECT_EQ(memory.next_function, 7u);
  // g is number 6, f number 5 of the device; kFunctionBase is 0x800000, the distance 16.
  EXPECT_THAT(memory.written.at(kBase),
              ElementsAre(0x60, 0, 0x80, 0, 0, 0, 0, 0, 0x50, 0, 0x80, 0, 0, 0, 0, 0));
}

TEST(LoadedModule, LinksVariablesAndFunctions) {
  Memory memory;
  LoadedModule module = memory.load(all_of(
      {text_of(".extern .global .u32 count;\n.extern .func f();\n.global .u64 here = count;\n.global .u32 "
               "own = 1;\n"
               ".entry k() { call f; ret; }\n",
               "a.ptx"),
       text_of(
           ".visible .global .align 16 .u32 count = 7;\n.global .u32 own = 2;\n.visible .func f() { ret; }\n"
           ".entry j() { ret; }\n",
           "b.ptx"),
       text_of(".weak .global .align 16 .u32 count = 9;\n", "c.ptx")}));
  EXPECT_THAT(module.kernels(), ElementsAre("k", "j"));
  // here at 0, own at 8, count at 16, the other own at 20, the weak count at 32.
  EXPECT_THAT(memory.written.at(kBase), ElementsAre(0x10, 0x01, 0, 0, 1, 0, 0, 0));
  EXPECT_THAT(memory.written.at(kBase + 8), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(memory.written.at(kBase + 16), ElementsAre(7, 0, 0, 0));
  EXPECT_THAT(memory.written.at(kBase + 20), ElementsAre(2, 0, 0, 0));
  EXPECT_EQ(module.address_of("count", nullptr), kBase + 16);
  EXPECT_EQ(module.program("k")->functions.size(), 1u);
  EXPECT_TRUE(module.program("j")->functions.empty());
}

TEST(LoadedModule, RefusesWhatDoesNotLink) {
  const auto refused = [](const std::vector<ptx::Module>& modules, const std::string& message) {
    EXPECT_THAT([&] { Memory().load(modules); },
                Throws<InputError>(Property(&InputError::what, HasSubstr(message))));
  };
  const std::string count = ".visible .global .u32 count;\n", f = ".visible .func f() { ret; }\n";
  refused(all_of({text_of(count, "a.ptx"), text_of(count, "b.ptx")}),
          "b.ptx: variable count is defined in a.ptx as well");
  refused(all_of({text_of(f, "a.ptx"), text_of(f, "b.ptx")}),
          "b.ptx:4:16: function 'f' is defined also at a.ptx:4:16");
  refused(all_of({text_of(".entry k() { ret; }\n", "a.ptx"), text_of(".entry k() { ret; }\n", "b.ptx")}),
          "b.ptx: kernel 'k' is also defined in another");
  refused(all_of({text_of(count, "a.ptx"), text_of(".extern .global .u64 count;\n", "b.ptx")}),
          "b.ptx: variable count has another size or state space in a.ptx");
  refused(
      all_of({text_of(".global .u32 count;\n", "a.ptx"), text_of(".extern .global .u32 count;\n", "b.ptx")}),
      "b.ptx: variable count is .extern and not defined in any linked module");
}

TEST(LoadedModule, RefusesWhatItCannotPlace) {
  Memory memory;
  auto missing = variable("missing", 4, 4);
  missing.is_extern = true;
  EXPECT_THAT([&] { memory.load(module_of({missing})); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("missing is .extern"))));

  auto dangling = variable("dangling", 8, 8);
  dangling.relocations.push_back({0, "nobody", 0, false});
  EXPECT_THAT([&] { memory.load(module_of({dangling})); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("address of nobody"))));

  auto outside = variable("outside", 12, 8);
  outside.relocations.push_back({5, "outside", 0, false});
  EXPECT_THROW(memory.load(module_of({outside})), InputError);

  EXPECT_THROW(memory.load(module_of({variable("page", 4, 4096)})), InputError);
  EXPECT_THROW(memory.load(module_of({variable("a", UINT64_MAX, 1), variable("b", 2, 1)})), InputError);
}

TEST(LoadedModule, ListsItsVariablesWhenAskedForAnotherOne) {
  Memory memory;
  const LoadedModule module = memory.load(module_of({variable("one", 4, 4), variable("two", 4, 4)}));
  EXPECT_THAT([&] { module.address_of("three", nullptr); },
              Throws<InputError>(
                  Property(&InputError::what, HasSubstr("unknown variable 'three'; known: one, two"))));
}

}  // namespace
}  // namespace weft::loader
