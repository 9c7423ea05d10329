// weft.svd says what weft_registers.h says, and what the GPU does.
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <fstream>
#include <map>
#include <regex>

#include "host/host_bench.h"

namespace weft::test {
namespace {

using boost::property_tree::ptree;

struct Described {
  std::string name;           // as in C, without WEFT_: "QUEUE_DOORBELL"
  std::uint64_t address = 0;  // in block 0
  std::string access;
  std::uint32_t reset_value = 0, reset_mask = 0;
  bool clears = false;
  unsigned dim = 1;
  std::uint64_t stride = 0;
  const ptree* fields = nullptr;
};

std::uint64_t number(const std::string& text) {
  return std::stoull(text, nullptr, 0);
}

class Svd : public ::testing::Test {
 public:
  Svd() {
    boost::property_tree::read_xml(WEFT_SVD_FILE, tree_);
    const ptree& peripheral = tree_.get_child("device.peripherals.peripheral");
    add(peripheral.get_child("registers"), "REG_", 0, 1, 0);
    std::ifstream file(WEFT_HEADER_FILE);
    for (std::string line; std::getline(file, line);) {
      static const std::regex kDefine(R"(#define WEFT_(\w+) (0x[0-9A-F]+)(?:ULL)?(?: /\* (.*) \*/)?)");
      std::smatch found;
      if (!std::regex_match(line, found, kDefine)) continue;
      constants[found[1]] = number(found[2]);
      meanings[found[1]] = found[3];
    }
  }

  std::vector<Described> registers;
  std::map<std::string, std::uint64_t> constants;
  std::map<std::string, std::string> meanings;

 private:
  void add(const ptree& from, const std::string& prefix, std::uint64_t base, unsigned dim,
           std::uint64_t stride) {
    for (const auto& [tag, node] : from) {
      if (tag == "cluster") {
        const auto name = node.get<std::string>("name");
        ASSERT_EQ(name.substr(name.size() - 4), "[%s]");
        add(node, name.substr(0, name.size() - 4) + "_", number(node.get<std::string>("addressOffset")),
            node.get<unsigned>("dim"), number(node.get<std::string>("dimIncrement")));
      } else if (tag == "register") {
        Described one;
        one.name = prefix + node.get<std::string>("name");
        one.address = base + number(node.get<std::string>("addressOffset"));
        one.access = node.get<std::string>("access");
        one.reset_value = static_cast<std::uint32_t>(number(node.get<std::string>("resetValue")));
        one.reset_mask = static_cast<std::uint32_t>(number(node.get<std::string>("resetMask")));
        one.clears = node.get<std::string>("modifiedWriteValues", "") == "oneToClear";
        one.dim = dim;
        one.stride = stride;
        if (const auto fields = node.get_child_optional("fields")) one.fields = &*fields;
        EXPECT_NE(node.get<std::string>("description"), "");
        registers.push_back(one);
      }
    }
  }

  ptree tree_;
};

TEST_F(Svd, HasEveryRegisterOfTheHeaderAndNoOther) {
  std::set<std::string> described;
  for (const Described& one : registers) {
    ASSERT_EQ(constants.count(one.name), 1u) << one.name;
    std::uint64_t expected = constants.at(one.name);
    if (one.dim > 1) {
      std::string block = one.name.substr(0, one.name.find('_'));
      for (const char* const longer : {"QUEUE_FAULT", "QUEUE_RUNTIME"}) {
        if (one.name.rfind(std::string(longer) + "_", 0) == 0) block = longer;
      }
      expected += constants.at(block + "_BASE");
      EXPECT_EQ(one.stride, constants.at(block + "_STRIDE")) << one.name;
    }
    EXPECT_EQ(one.address, expected) << one.name;
    EXPECT_TRUE(described.insert(one.name).second) << one.name << " twice";
  }
  // Those of the header say how they may be accessed; of a pair the first.
  for (const auto& [name, meaning] : meanings) {
    const bool is_register = meaning.rfind("read only: ", 0) == 0 || meaning.rfind("read, write", 0) == 0;
    EXPECT_TRUE(!is_register || described.count(name) == 1) << name;
  }
  EXPECT_GT(described.size(), 30u);
}

TEST_F(Svd, NamesTheBitsAndCodesOfTheHeader) {
  std::map<std::string, std::map<std::string, std::uint64_t>> found;
  for (const Described& one : registers) {
    if (one.fields == nullptr) continue;
    for (const auto& [tag, field] : *one.fields) {
      const auto range = field.get<std::string>("bitRange");
      const std::uint64_t low = number(range.substr(range.find(':') + 1));
      if (const auto values = field.get_child_optional("enumeratedValues")) {
        for (const auto& [value_tag, value] : *values)
          found[one.name][value.get<std::string>("name")] = number(value.get<std::string>("value"));
      } else {
        found[one.name][field.get<std::string>("name")] = std::uint64_t{1} << low;
      }
    }
  }
  const auto expect = [&](const std::string& name, const std::string& prefix) {
    std::map<std::string, std::uint64_t> expected;
    for (const auto& [constant, value] : constants) {
      if (constant.rfind(prefix, 0) == 0) expected[constant.substr(prefix.size())] = value;
    }
    for (const auto& [constant, value] : constants) {  // registers' own names begin alike
      if (constant.rfind("REG_", 0) == 0) expected.erase(constant.substr(4));
    }
    EXPECT_FALSE(expected.empty()) << prefix;
    EXPECT_EQ(found[name], expected) << name;
  };
  expect("REG_STATUS", "STATUS_");
  expect("REG_CONTROL", "CONTROL_");
  expect("REG_IRQ_STATUS", "IRQ_");
  expect("REG_IRQ_ENABLE", "IRQ_");
  expect("REG_ERROR_CODE", "ERROR_");
  expect("REG_MODE", "MODE_");
  expect("QUEUE_FAULT_CODE", "ERROR_");
  expect("QUEUE_FAULT_KIND", "FAULT_");
  expect("QUEUE_STATUS", "QUEUE_STATUS_");
  expect("QUEUE_IRQ_STATUS", "IRQ_");
  expect("QUEUE_IRQ_ENABLE", "IRQ_");
  EXPECT_EQ(found["QUEUE_CONTROL"]["QUEUE_ENABLE"], WEFT_QUEUE_ENABLE);
  EXPECT_EQ(found["WINDOW_CONTROL"]["WINDOW_ENABLE"], WEFT_WINDOW_ENABLE);
}

TEST_F(Svd, IsWhatTheGpuDoesAfterAReset) {
  HostBench bench;
  ASSERT_TRUE(bench.cpu.run([&] {
    const std::uint32_t windows = bench.cpu.read32(WEFT_REG_WINDOWS),
                        queues = bench.cpu.read32(WEFT_REG_QUEUES);
    // All of them before the first is written.
    for (const bool writes : {false, true})
      for (const Described& one : registers) {
        const unsigned blocks = one.name.rfind("WINDOW_", 0) == 0  ? windows
                                : one.name.rfind("QUEUE_", 0) == 0 ? queues
                                                                   : 1;
        ASSERT_LE(blocks, one.dim) << one.name;
        for (unsigned i = 0; i < blocks; ++i) {
          const std::uint64_t at = one.address + i * one.stride;
          if (!writes) {
            EXPECT_EQ(bench.cpu.read32(at) & one.reset_mask, one.reset_value) << one.name;
            continue;
          }
          // Writing what is there changes nothing, or is refused where it may not be.
          const bool refused = bench.cpu.write32(at, 0) == tlm::TLM_COMMAND_ERROR_RESPONSE;
          EXPECT_EQ(refused, one.access == "read-only") << one.name;
        }
      }
    // An error raises its bit, and a 1 clears it.
    bench.cpu.write32(WEFT_QUEUE(0, WEFT_QUEUE_DOORBELL), 5);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_IRQ_STATUS), WEFT_IRQ_ERROR);
    bench.cpu.write32(WEFT_REG_IRQ_STATUS, WEFT_IRQ_ERROR);
    EXPECT_EQ(bench.cpu.read32(WEFT_REG_IRQ_STATUS), 0u);
    for (const Described& one : registers)
      EXPECT_EQ(one.clears, one.name == "REG_IRQ_STATUS" || one.name == "QUEUE_IRQ_STATUS") << one.name;
  }));
}

}  // namespace
}  // namespace weft::test
