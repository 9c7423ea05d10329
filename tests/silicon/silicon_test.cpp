// Weft against vectors from real GPUs, where there are any; and the way from a device to a comparison.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "conformance/table.h"
#include "folder.h"
#include "microbenchmarks/cuda_machine.h"
#include "microbenchmarks/results.h"
#include "silicon/cuda_machine.h"
#include "silicon/stand_in.h"
#include "silicon/vectors.h"

namespace weft::test::silicon {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

constexpr unsigned kOperands = 128;

// Lines of departures.txt: a mnemonic, the cases of which GPUs are known to differ, and why.
std::map<std::string, std::size_t> read_departures() {
  std::ifstream file(WEFT_SILICON_DEPARTURES);
  std::map<std::string, std::size_t> departures;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string mnemonic;
    std::size_t cases = 0;
    words >> mnemonic >> cases;
    departures[mnemonic] = cases;
  }
  return departures;
}

// `branching` runs what needs a whole warp or branches, `straight` the rest.
void expect_agreement(const std::string& machine, const std::vector<Vectors>& recorded,
                      conformance::Machine& straight, conformance::Machine& branching) {
  const std::map<std::string, std::size_t> known = read_departures();
  std::set<std::string> mnemonics;
  for (const auto& each : known) mnemonics.insert(each.first);
  std::map<std::string, std::size_t> found;
  for (const Vectors& vectors : recorded) {
    const Comparison comparison = compare(vectors, straight, branching, mnemonics);
    std::cout << machine << " and " << vectors.gpu << ", driver " << vectors.driver << ": "
              << comparison.cases << " cases, " << comparison.results << " results, " << comparison.open
              << " of them open, " << comparison.refused << " refused\n";
    EXPECT_EQ(comparison.wrong, 0u) << machine << ":\n" << comparison.text;
    EXPECT_GT(comparison.cases, 50u);
    for (const auto& each : comparison.departures) found[each.first] += each.second;
  }
  // As many cases as departures.txt says, so that a new difference shows, and one that is gone is taken out.
  EXPECT_EQ(found, known) << machine;
}

TEST(Silicon, WeftAgreesWithEveryRecordedGpu) {
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(WEFT_SILICON_VECTORS)) {
    if (file.path().extension() == ".gz") files.push_back(file.path());
  }
  if (files.empty()) {
    GTEST_SKIP() << "the vectors are missing: no real GPU has been recorded in " << WEFT_SILICON_VECTORS
                 << "; silicon_generate makes them on a machine with one";
  }
  std::vector<Vectors> recorded;
  for (const std::string& file : files) {
    EXPECT_LT(std::filesystem::file_size(file), 5'000'000u) << file;
    recorded.push_back(read(file));
  }
  const auto straight = conformance::make_straight_line_machine();
  const auto interpreter = conformance::make_interpreter_machine();
  CudaMachine whole(stand_in());
  expect_agreement("Weft", recorded, *straight, whole);
  expect_agreement("the interpreter", recorded, *interpreter, *interpreter);
}

// Recording through the driver API, to a file and back, then the comparison; with one bit changed it tells.
TEST(Silicon, RecordsAndComparesThroughTheDriverApi) {
  CudaMachine machine(stand_in());
  EXPECT_EQ(machine.header(), ".version 8.7\n.target sm_90\n");
  std::vector<std::string> opcodes;
  for (const auto& entry : conformance::read_table()) opcodes.push_back(entry.opcode);
  Vectors vectors = record(machine, opcodes, kOperands, 5);
  vectors.gpu = machine.device().name;
  vectors.capability = machine.device().capability;
  vectors.driver = machine.device().driver;
  const Folder folder;
  const std::string file = folder.path("vectors.gz");
  write(vectors, file);
  const Vectors again = read(file);
  EXPECT_EQ(again.gpu, "Weft");
  EXPECT_EQ(again.capability, "9.0");
  EXPECT_EQ(again.driver, 12080);
  ASSERT_EQ(again.cases.size(), vectors.cases.size());
  for (const Recorded& each : again.cases) EXPECT_EQ(each.refused, "") << each.opcode;

  // Weft's simulated GPU cannot stand in for both sides in one process; the device under the API is used
  // again.
  const Comparison same = compare(again, machine, machine);
  EXPECT_EQ(same.wrong, 0u) << same.text;
  EXPECT_GT(same.cases, 600u);
  EXPECT_EQ(same.results, same.cases * kOperands);

  Vectors changed;
  changed.operands = kOperands;
  changed.seed = 5;
  for (const Recorded& each : again.cases) {
    if (each.opcode == "add.s32" || each.opcode == "sub.s32") changed.cases.push_back(each);
  }
  ASSERT_EQ(changed.cases.size(), 2u);
  changed.cases[0].results[4 * 77] ^= 1;
  const Comparison different = compare(changed, machine, machine);
  EXPECT_EQ(different.wrong, 1u);
  EXPECT_THAT(different.text, HasSubstr("add.s32 (case 0): operands 0x"));
  changed.seed = 6;
  EXPECT_THAT(compare(changed, machine, machine).text, HasSubstr("another generator"));
}

// `weft measure --gpu`: the stand-in is a gtx480, so its numbers are known.
TEST(Silicon, MeasuresThroughTheDriverApi) {
  const auto machine = microbenchmarks::make_cuda_machine(stand_in());
  EXPECT_EQ(machine->facts().name, "Weft");
  EXPECT_EQ(machine->facts().sms, 2u);
  EXPECT_FALSE(machine->facts().simulated);
  microbenchmarks::Sizes sizes;
  sizes.launches = 2;
  sizes.chase_bytes = 1u << 20;
  sizes.dram_bytes = 1u << 20;
  sizes.l2_bytes = 128u << 10;
  microbenchmarks::Bench bench(*machine, sizes);
  std::vector<microbenchmarks::Measurement> list;
  for (const auto& each : microbenchmarks::all_measurements(machine->facts(), sizes)) {
    for (const char* const id :
         {"latency instruction=fma.rn.f32", "chase cache=ca stride=128 bytes=1024",
          "l1_capacity dynamic_shared=49152", "constant_chase stride=64 bytes=256",
          "bandwidth level=dram access=copy", "atomic_throughput space=global addresses=one",
          "launch kernel=empty host=waits"}) {
      if (each.id() == id) list.push_back(each);
    }
  }
  list.push_back({"nonsense", "", {}, [](microbenchmarks::Bench& b) { return b.kernel("nonsense") * 1.0; }});
  std::map<std::string, double> values;
  const auto results = measure(bench, list);
  for (const auto& each : results.measurements) values[each.name] = each.value;
  EXPECT_EQ(values.at("latency"), 10);
  EXPECT_NEAR(values.at("chase"), 36, 0.5);
  EXPECT_EQ(values.at("l1_capacity"), 16384);
  EXPECT_LT(values.at("constant_chase"), 5);
  EXPECT_GT(values.at("bandwidth"), 10);
  EXPECT_NEAR(values.at("atomic_throughput"), 1, 0.1);
  EXPECT_GT(values.at("launch"), 0) << "time of the host";
  ASSERT_EQ(results.refused.size(), 1u);
  EXPECT_THAT(results.refused[0].second, HasSubstr("device kernel image is invalid"));
}

TEST(Silicon, WhatTheDriverRefusesIsRecordedAsRefused) {
  CudaMachine machine(stand_in());
  EXPECT_THAT([&] { machine.load("not PTX"); },
              Throws<std::runtime_error>(
                  Property(&std::runtime_error::what, HasSubstr("device kernel image is invalid"))));
}

TEST(Silicon, AMissingDriverIsNamed) {
  EXPECT_THAT([] { open_library("libcuda_that_is_not_there.so.1"); },
              Throws<std::runtime_error>(
                  Property(&std::runtime_error::what, HasSubstr("libcuda_that_is_not_there.so.1"))));
  EXPECT_THAT(
      [] { CudaMachine machine([](const char*) { return static_cast<void*>(nullptr); }); },
      Throws<std::runtime_error>(Property(&std::runtime_error::what, HasSubstr("has no cuGetErrorString"))));
}

TEST(Silicon, AFileThatIsNoneIsRefused) {
  const Folder folder;
  const std::string file = folder.path("vectors.gz");
  Vectors vectors;
  vectors.cases.push_back({"add.s32", 0, "", 1, std::vector<std::uint8_t>(512)});
  write(vectors, file);
  EXPECT_EQ(read(file).cases.size(), 1u);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  EXPECT_THROW(read(file), std::runtime_error);
  std::filesystem::remove(file);
  EXPECT_THROW(read(file), std::runtime_error);
}

}  // namespace
}  // namespace weft::test::silicon
