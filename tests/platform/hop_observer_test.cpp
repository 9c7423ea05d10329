// Observers of one's own on the hops: they see what the program did, in data that stand still.
#include "weft/platform/hop_observer.h"

#include <gtest/gtest.h>
#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "bus/memory_transaction.h"
#include "default_addresses.h"
#include "platform/gpu_bench.h"

namespace weft::test::hop_observer_test {
namespace {

using runtime::Arguments;

// Keeps the bytes of writes by address, in their order, and those of reads as they are answered.
struct Tracer final : HopObserver, sc_core::sc_module {
  using Payload = tlm::tlm_generic_payload;
  tlm_utils::passthrough_target_socket<Tracer> target;
  tlm_utils::simple_initiator_socket<Tracer> initiator;
  std::map<std::uint64_t, std::vector<unsigned>> written, read;
  unsigned writes = 0, atomics = 0, reads = 0;

  explicit Tracer(const sc_core::sc_module_name& name)
      : sc_module(name), target("target"), initiator("initiator") {
    target.register_nb_transport_fw(this, &Tracer::forward);
    target.register_get_direct_mem_ptr(this, &Tracer::dmi);
    target.register_transport_dbg(this, &Tracer::debug);
    initiator.register_nb_transport_bw(this, &Tracer::backward);
  }
  tlm::tlm_base_target_socket<32>& target_socket() override { return target; }
  tlm::tlm_base_initiator_socket<32>& initiator_socket() override { return initiator; }

  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ && payload.is_write()) {
      ++(origin_of(payload)->kind == AccessKind::kAtomic ? atomics : writes);
      keep(payload, written);
    }
    return initiator->nb_transport_fw(payload, phase, delay);
  }
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_RESP && payload.is_read()) {
      ++reads;
      keep(payload, read);
    }
    return target->nb_transport_bw(payload, phase, delay);
  }
  bool dmi(Payload& payload, tlm::tlm_dmi& region) { return initiator->get_direct_mem_ptr(payload, region); }
  unsigned debug(Payload& payload) { return initiator->transport_dbg(payload); }

  static void keep(const Payload& payload, std::map<std::uint64_t, std::vector<unsigned>>& words) {
    for (unsigned i = 0; i + 4 <= payload.get_data_length(); i += 4) {
      unsigned word = 0;
      std::memcpy(&word, payload.get_data_ptr() + i, 4);
      words[payload.get_address() + i].push_back(word);
    }
  }
};

struct Traced {
  std::map<std::string, Tracer*> tracers;
  runtime::DeviceOptions options;
  explicit Traced(const std::string& hops) {
    options.monitors = true;
    options.observations.push_back({hops, [this](const Hop& hop) {
                                      auto tracer = std::make_unique<Tracer>(("trace_" + hop.name).c_str());
                                      tracers[hop.name] = tracer.get();
                                      return tracer;
                                    }});
  }
};

std::string words_of(const std::vector<unsigned>& words) {
  std::ostringstream text;
  for (const unsigned word : words) text << word << ' ';
  return text.str();
}

// One thread stores 1, 2, ... 6 to the same word, one store behind the other: each transaction has the bytes
// of its own store, though memory has the last one's by then.
TEST(HopObserver, SeesEachStoreAsItWasIssued) {
  Traced traced("hop_sm*");
  GpuBench bench({"sm.count=2"}, "gtx480", traced.options);
  const auto out = bench.zeros(128);
  std::string stores;
  for (int i = 1; i <= 6; ++i) stores += "  st.global.u32 [%rd1], " + std::to_string(i) + ";\n";
  bench.load(kernel_text(".param .u64 out", "  ld.param.u64 %rd1, [out];\n" + stores + "  ret;"));
  bench.run({1, 1, 1}, {1, 1, 1}, Arguments().add(out));
  ASSERT_EQ(traced.tracers.size(), 2u);
  std::string seen;
  for (const auto& [name, tracer] : traced.tracers) seen += words_of(tracer->written[out - kDeviceBase]);
  EXPECT_EQ(seen, "1 2 3 4 5 6 ");
  EXPECT_EQ(bench.device.gpu().violations(), "");
}

// An atomic carries the word as after its operation; a load brings what memory has.
TEST(HopObserver, SeesAtomicsAndLoads) {
  Traced traced("hop_sm0");
  GpuBench bench({"sm.count=1"}, "gtx480", traced.options);
  const auto data = bench.words({5, 70, 0, 0});
  bench.load(kernel_text(".param .u64 out", R"(  ld.param.u64 %rd1, [out];
  red.global.add.u32 [%rd1], 3;
  ld.global.cv.u32 %r1, [%rd1+4];
  st.global.u32 [%rd1+8], %r1;
  ret;)"));
  bench.run({1, 1, 1}, {1, 1, 1}, Arguments().add(data));
  Tracer& tracer = *traced.tracers.at("hop_sm0");
  EXPECT_EQ(tracer.atomics, 1u);
  EXPECT_EQ(words_of(tracer.written[data - kDeviceBase]), "8 ");
  EXPECT_EQ(words_of(tracer.read[data + 4 - kDeviceBase]), "70 ");
  EXPECT_EQ(words_of(tracer.written[data + 8 - kDeviceBase]), "70 ");
}

// What the L2 writes back is what the line had when it was evicted, and what it fetches is what memory has.
TEST(HopObserver, SeesWriteBacksAndFetches) {
  Traced traced("hop_dram*");
  GpuBench bench({"sm.count=1", "l2.sets=4", "l2.ways=2"}, "gtx480", traced.options);
  std::vector<std::uint32_t> values(16384);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(7 * i);
  const auto data = bench.words(values);
  // Each thread adds 1 to its word.
  bench.load(kernel_text(".param .u64 out", R"(  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r2, %r3, 256, %r2;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;)"));
  bench.run({64, 1, 1}, {256, 1, 1}, Arguments().add(data));
  std::size_t fetched = 0, written = 0;
  for (const auto& [name, tracer] : traced.tracers) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t at = data - kDeviceBase + 4 * i;
      for (const unsigned word : tracer->read[at]) {
        EXPECT_TRUE(word == values[i] || word == values[i] + 1) << i;
        ++fetched;
      }
      for (const unsigned word : tracer->written[at]) {
        EXPECT_TRUE(word == values[i] || word == values[i] + 1) << i;
        written += word == values[i] + 1 ? 1 : 0;
      }
    }
  }
  EXPECT_GE(fetched, values.size());
  EXPECT_GT(written, values.size() / 2);
  EXPECT_EQ(bench.device.gpu().violations(), "");
}

TEST(HopObserver, StandsWhereItIsAskedFor) {
  std::set<std::string> hops;
  runtime::DeviceOptions options;
  options.observations.push_back({"*", [&](const Hop& hop) {
                                    hops.insert(hop.name);
                                    return nullptr;
                                  }});
  GpuBench bench({"sm.count=2"}, "gtx480", options);
  EXPECT_EQ(hops.count("hop_sm1"), 1u);
  EXPECT_EQ(hops.count("hop_l2_0"), 1u);
  EXPECT_EQ(hops.count("hop_dram0"), 1u);
  EXPECT_EQ(hops.count("hop_host"), 1u);
  EXPECT_EQ(bench.device.gpu().violations(), "");
}

}  // namespace
}  // namespace weft::test::hop_observer_test
