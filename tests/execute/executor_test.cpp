// The executor and its parts without an SM: address spaces, faults in words, staged system memory, and that a
// kernel leaves nothing behind for the next one.
#include "execute/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <sstream>

#include "default_addresses.h"
#include "weft/common/error.h"
#include "weft/ptx/module.h"

namespace weft::execute {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t kBase = 0x7000'0000'0000, kBytes = 1 << 18, kLocal = kBase + (1 << 17);
constexpr std::uint64_t kWindow = 0x8000'0000;  // of system memory

std::shared_ptr<const ptx::Program> program_of(const std::string& body) {
  const std::string text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
  .shared .align 16 .b8 box[1024];
  .local .align 16 .b8 mine[32];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 16;
  add.u64 %rd1, %rd1, %rd2;
  shl.b32 %r3, %r1, 4;
  mov.u32 %r4, box;
  add.u32 %r3, %r3, %r4;
  mov.u32 %r5, mine;
)" + body + "\n  ret;\n}\n";
  return std::make_shared<const ptx::Program>(ptx::decode(ptx::parse(text, "k.ptx"), "k", {}));
}

dispatch::Launch launch_of(const std::string& body, std::uint64_t out = kBase) {
  dispatch::Launch launch;
  launch.program = program_of(body);
  launch.block = {40, 1, 1};
  launch.local_address = kLocal;
  launch.parameters.resize(8);
  std::memcpy(launch.parameters.data(), &out, 8);
  return launch;
}

ResidentBlock block_in(std::uint16_t slot, const Kernel& kernel) {
  ResidentBlock block;
  block.live = true;
  block.slot = slot;
  block.first_chunk = static_cast<std::uint16_t>(slot * kernel.chunks_per_block);
  block.threads = block.live_threads = kernel.threads;
  block.index = {slot, 0, 0};
  return block;
}

// Device memory, of which the last page is not allocated, and a window of system memory.
struct DeviceBytes {
  DeviceBytes() { mapped.back() = 0; }
  DeviceMemoryView view() {
    DeviceMemoryView view;
    view.image = image.data();
    view.base = kBase;
    view.bytes = kBytes;
    view.mapped = mapped.data();
    view.system = &system;
    return view;
  }
  std::vector<std::uint8_t> image = std::vector<std::uint8_t>(kBytes);
  std::vector<std::uint8_t> mapped = std::vector<std::uint8_t>(kBytes >> 12, 1);
  SystemMemory system{machine::AddressWindows{kBase}, kBytes};
};

struct Machine {
  // Runs the first `most` instructions of a straight kernel, all warps of its first block in turn. False: a
  // fault.
  bool run(const Kernel& kernel, DeviceBytes& memory, unsigned most = ~0u) {
    executor.start_kernel(kernel, memory.view());
    block = block_in(0, kernel);
    executor.start_block(block);
    for (ptx::Pc pc = 0; pc < kernel.operations.size() && pc < most; ++pc) {
      const Operation& op = kernel.operations[pc];
      const auto chunks = static_cast<std::uint16_t>(kernel.chunks_per_block);
      for (std::uint16_t chunk = 0; chunk < chunks; ++chunk) {
        const std::uint32_t threads = kernel.threads - chunk * isa::kLanes;
        const std::uint32_t mask = threads >= isa::kLanes ? ~0u : (1u << threads) - 1;
        const warp_formation::ThreadGroup group{mask, chunk, 0, false};
        if (op.instruction->system != ptx::SystemCall::kNone) {
          if (!executor.system(op, pc, chunk, mask, block)) return false;
        } else if (op.instruction->is_memory()) {
          if (!executor.memory(op, pc, {&group, 1}, block)) return false;
          note_accesses();
        } else if (!op.instruction->is_control()) {
          executor.arithmetic(op, {&group, 1}, 1000 + pc);
        }
      }
    }
    return true;
  }
  void note_accesses() {
    for (unsigned i = 0; i < executor.access_count(); ++i) {
      const LaneAccess& access = executor.accesses()[i];
      trace << static_cast<int>(access.space) << ' ' << access.low << ' ' << access.high;
      for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
        trace << ' ' << access.address[lane];
      }
      trace << '\n';
    }
  }
  // All that can be seen of the executor after a run.
  std::string state(const Kernel& kernel, const DeviceBytes& memory) {
    RegisterFile::Image image;
    registers.save(image);
    const auto put = [&](const auto& values) {
      for (const auto value : values) trace << +value << ' ';
    };
    put(image.registers);
    put(image.predicates);
    for (std::uint64_t i = 0; i < kBytes; ++i) {
      if (memory.image[i] != 0) trace << i << '=' << +memory.image[i] << ' ';
    }
    for (unsigned slot = 0; slot < kernel.occupancy.blocks; ++slot) {
      const AddressSpaces::Region shared =
          executor.region(ptx::Space::kShared, block_in(static_cast<std::uint16_t>(slot), kernel));
      put(std::vector<std::uint8_t>(shared.base, shared.base + shared.bytes));
    }
    trace << executor.access_count() << ' ' << executor.outside_uses() << ' '
          << static_cast<int>(executor.fault().kind) << executor.fault().text;
    return trace.str();
  }

  machine::SmConfig config;
  RegisterFile registers;
  Executor executor{config, 0, 1000, registers};
  ResidentBlock block;
  std::ostringstream trace;
};

struct SpacesBench {
  explicit SpacesBench(unsigned sm = 0) : spaces(sm) {
    memory.system.add_window(kWindow, 0x1000);
    spaces.start_kernel(kernel, memory.view());
  }
  // The program's first memory instruction of this kind.
  const Operation& operation(ptx::Opcode opcode, ptx::Space space) const {
    for (const Operation& op : kernel.operations) {
      if (op.instruction->op == opcode && op.instruction->space == space) return op;
    }
    throw std::logic_error("no such instruction");
  }
  static machine::SmConfig two_sms() {
    machine::SmConfig config;
    config.count = 2;
    return config;
  }
  machine::SmConfig config = two_sms();
  DeviceBytes memory;
  Kernel kernel{launch_of("st.global.u32 [%rd1], %r1; st.local.v4.u32 [%r5], {%r1, %r1, %r1, %r1};\n"
                          "ld.const.u32 %r6, [%r1]; st.shared.u32 [%r3], %r1;"),
                config, 32};
  AddressSpaces spaces;
  AccessRecord record;
};

TEST(AddressSpaces, ConstantAddressesWrapAt32Bits) {
  SpacesBench bench;
  const ptx::Instruction& in = *bench.operation(ptx::Opcode::kLd, ptx::Space::kConst).instruction;
  alignas(64) std::uint64_t base[isa::kLanes] = {}, address[isa::kLanes];
  // 32-bit registers hold an address modulo 2^32; the space of device memory begins at a multiple of it.
  auto* const words = reinterpret_cast<std::uint32_t*>(base);
  words[0] = static_cast<std::uint32_t>(kBase) + 64;
  words[1] = static_cast<std::uint32_t>(kBase + kBytes) - 4;
  const isa::AddressSpan span = bench.spaces.addresses(in, base, 0b11, address);
  EXPECT_EQ(address[0], kBase + 64);
  EXPECT_EQ(address[1], kBase + kBytes - 4);
  EXPECT_EQ(span.low, address[0]);
  EXPECT_EQ(span.high, address[1]);
  EXPECT_EQ(span.bits, address[0] | address[1]);
}

TEST(AddressSpaces, GenericWindowsEndWhereTheySay) {
  const SpacesBench bench;
  std::uint64_t address[isa::kLanes] = {};
  address[0] = kDefaultMap.shared_base - 1;
  address[1] = kDefaultMap.shared_base;
  address[2] = kDefaultMap.shared_base + kDefaultMap.window_bytes - 1;
  address[3] = kDefaultMap.local_base;
  address[4] = kDefaultMap.local_base + kDefaultMap.window_bytes - 1;
  address[5] = kDefaultMap.local_base + kDefaultMap.window_bytes;
  const AddressSpaces::Windows windows = bench.spaces.windows_of(address);
  EXPECT_EQ(windows.shared, 0b000110u);
  EXPECT_EQ(windows.local, 0b011000u);
}

TEST(AddressSpaces, LocalMemoryIsInterleavedByWordsOverTheBlocksOfAllSms) {
  SpacesBench first, second(1);
  const std::uint64_t block = first.kernel.chunks_per_block * 32ull * 4;  // bytes of a word of its threads
  const auto slot = [&](unsigned number) { return number * first.kernel.chunks_per_block; };
  const std::uint64_t origin = first.spaces.local_place(0, 0, 0);
  EXPECT_EQ(origin, kLocal - kBase);
  EXPECT_EQ(first.spaces.local_place(0, 0, 1), origin + 4) << "the next thread";
  EXPECT_EQ(first.spaces.local_place(0, 1, 0), origin + 32 * 4) << "the next chunk";
  EXPECT_EQ(second.spaces.local_place(0, 0, 0), origin + block) << "the next SM";
  EXPECT_EQ(first.spaces.local_place(0, slot(1), 0), origin + first.config.count * block)
      << "the next block of the SM";
  EXPECT_EQ(first.spaces.local_place(1, 0, 0),
            origin + first.config.count * first.kernel.occupancy.resident * block)
      << "the next word";
  EXPECT_EQ(first.spaces.local_bytes(), first.kernel.local_bytes);
}

// No two words of all threads lie in one place, and the area that the launch asks for has room for all.
TEST(AddressSpaces, LocalMemoryOfAllThreadsIsApartAndFillsItsArea) {
  std::set<std::uint64_t> places;
  std::uint64_t words = 0, area = 0;
  for (unsigned sm = 0; sm < SpacesBench::two_sms().count; ++sm) {
    const SpacesBench bench(sm);
    area = local_area_bytes(bench.kernel);
    ASSERT_NE(bench.spaces.local_bytes(), 0u);
    for (std::uint64_t word = 0; word < bench.spaces.local_bytes() / 4; ++word) {
      for (unsigned chunk = 0; chunk < bench.kernel.chunks_per_sm(); ++chunk) {
        for (unsigned lane = 0; lane < 32; ++lane, ++words)
          places.insert(bench.spaces.local_place(word, chunk, lane));
      }
    }
  }
  EXPECT_EQ(places.size(), words);
  EXPECT_EQ(*places.begin(), kLocal - kBase);
  EXPECT_EQ(*places.rbegin(), kLocal - kBase + area - 4);
}

TEST(AddressSpaces, RecordsWhatIsPossibleAndNothingElse) {
  SpacesBench bench;
  const ResidentBlock block = block_in(1, bench.kernel);
  std::uint64_t address[isa::kLanes] = {};
  const auto possible = [&](ptx::Space space, std::uint64_t first, std::uint64_t last) {
    address[3] = first;
    address[9] = last;
    bench.record.clear();
    std::uint8_t* base = nullptr;
    const Access access{
        bench.operation(ptx::Opcode::kSt, space), block, 0, 2, 0, 1u << 3 | 1u << 9, space, address};
    const LaneAccess* const lanes = bench.spaces.record(access, bench.record, base);
    EXPECT_EQ(bench.record.count(), lanes == nullptr ? 0u : 1u);
    if (lanes == nullptr) return false;
    const std::uint64_t low = space == ptx::Space::kShared ? 0 : kBase;
    EXPECT_EQ(lanes->address[3], first - low);
    EXPECT_EQ(lanes->low, std::min(first, last) - low);
    EXPECT_EQ(lanes->high, std::max(first, last) - low);
    EXPECT_EQ(base, bench.spaces.region(space, block).base);
    return true;
  };
  using ptx::Space;
  EXPECT_TRUE(possible(Space::kGlobal, kBase, kBase + 4));
  EXPECT_TRUE(possible(Space::kGlobal, kBase + 0x5000, kBase));
  EXPECT_FALSE(possible(Space::kGlobal, kBase - 4, kBase)) << "before device memory";
  EXPECT_FALSE(possible(Space::kGlobal, kBase, kBase + kBytes)) << "behind it";
  EXPECT_FALSE(possible(Space::kGlobal, kBase, UINT64_MAX - 3)) << "the end wraps around";
  EXPECT_FALSE(possible(Space::kGlobal, kBase, kBase + 2)) << "misaligned";
  EXPECT_FALSE(possible(Space::kGlobal, kBase, kBase + kBytes - 4)) << "not allocated";
  bench.memory.mapped[1] = 0;
  EXPECT_TRUE(possible(Space::kGlobal, kBase, kBase + 0x2000)) << "nobody goes to the page between";
  EXPECT_TRUE(possible(Space::kShared, 0, 1020));
  EXPECT_FALSE(possible(Space::kShared, 0, 1024));
  EXPECT_FALSE(possible(Space::kShared, 0, kBase));
}

TEST(AddressSpaces, OfTheDeviceRuntimeAndOfSystemMemory) {
  SpacesBench bench;
  const ResidentBlock block = block_in(0, bench.kernel);
  const AddressSpaces::Thread thread{block, 1, 5};
  bench.spaces.write_local(8, 8, 0x1122334455667788, thread);
  std::uint64_t value = 0;
  EXPECT_TRUE(bench.spaces.read(kDefaultMap.local_base + 8, 8, value, thread));
  EXPECT_EQ(value, 0x1122334455667788u);
  EXPECT_TRUE(bench.spaces.read(kDefaultMap.local_base + 9, 1, value, thread));
  EXPECT_EQ(value, 0x77u);
  EXPECT_TRUE(bench.spaces.read(kDefaultMap.local_base + 8, 4, value, {block, 1, 6}));
  EXPECT_EQ(value, 0u) << "another thread's";
  EXPECT_FALSE(bench.spaces.read(kDefaultMap.local_base + bench.spaces.local_bytes() - 4, 8, value, thread));
  EXPECT_FALSE(bench.spaces.read(kBase + kBytes - 8, 8, value, thread)) << "not allocated";
  EXPECT_FALSE(bench.spaces.read(kDefaultMap.shared_base + 1024, 4, value, thread));
  std::uint64_t address[isa::kLanes] = {kWindow, kWindow + 0xffc, kWindow + 0xffe, kBase};
  EXPECT_EQ(bench.spaces.in_system(0b1111, address, 4), 0b0011u);
  EXPECT_EQ(bench.spaces.in_system(0b1110, address, 4), 0b0010u);
}

// The address windows of a block follow from the bytes that are there.
TEST(SharedStorage, HandsOutNoMoreThanItHas) {
  SharedStorage storage;
  EXPECT_EQ(storage.part(0).bytes, 0u) << "before there is any";
  storage.configure(100, 3);
  for (unsigned slot = 0; slot < 3; ++slot) {
    const auto part = storage.part(slot);
    ASSERT_EQ(part.bytes, 100u);
    std::fill(part.base, part.base + part.bytes, std::uint8_t{1});
  }
  EXPECT_EQ(storage.part(3).bytes, 0u);
  EXPECT_EQ(storage.part(UINT32_MAX).bytes, 0u);
  storage.configure(0, 3);
  EXPECT_EQ(storage.part(0).bytes, 0u);
  storage.configure(100, 0);
  EXPECT_EQ(storage.part(0).bytes, 0u);
  for (const std::uint64_t bytes : {machine::kMostSharedBytes + 1, UINT64_MAX - 62, UINT64_MAX}) {
    EXPECT_THROW(storage.configure(bytes, 1), InputError) << bytes;
    EXPECT_EQ(storage.part(0).bytes, 0u);
  }
}

// The fault of a kernel with this body; empty: it has none.
std::string fault_of(const std::string& body, std::uint64_t out = kBase) {
  Machine machine;
  DeviceBytes memory;
  memory.system.add_window(kWindow, 0x1000);
  const Kernel kernel(launch_of(body, out), machine.config, 32);
  return machine.run(kernel, memory) ? "" : machine.executor.fault().text;
}

TEST(Faults, NameTheFirstThreadThePlaceAndWhatIsAllowed) {
  EXPECT_EQ(fault_of("st.global.v4.u32 [%rd1], {%r1, %r1, %r1, %r1};"), "");
  EXPECT_THAT(fault_of("st.global.u32 [%rd1], %r1;", kBase - 16),
              StartsWith("k: thread (0,0,0) of block (0,0,0), pc "));
  EXPECT_THAT(
      fault_of("st.global.u32 [%rd1], %r1;", kBase + kBytes - 0x1000 - 33 * 16),
      AllOf(StartsWith("k: thread (33,0,0)"),
            HasSubstr("store of 4 bytes at 0x70000003f000 is not in any allocation of global memory")));
  EXPECT_THAT(fault_of("ld.global.u64 %rd3, [%rd1+4];"),
              HasSubstr("load of 8 bytes at 0x700000000004 is not aligned to 8"));
  EXPECT_THAT(fault_of("ld.shared.u32 %r6, [%r3+512];"),
              AllOf(StartsWith("k: thread (32,0,0)"), HasSubstr("shared memory (1024 bytes)")));
  EXPECT_THAT(fault_of("ld.local.u32 %r6, [%r5+4096];"), HasSubstr("the thread's local memory ("));
  EXPECT_THAT(fault_of("cvt.u64.u32 %rd3, %r5; cvta.local.u64 %rd3, %rd3; atom.add.u32 %r6, [%rd3], 1;"),
              HasSubstr("atomic of 4 bytes at 0x2000000 is in local memory; allowed: global and shared"));
  EXPECT_THAT(fault_of("st.global.u32 [%rd1+2], %r1;", kWindow), HasSubstr("not aligned to 4 bytes"));
  EXPECT_THAT(fault_of("trap;"), HasSubstr(": trap: the kernel ended itself"));
}

// Nothing moves until the transactions do.
TEST(SystemAccesses, MoveTheirBytesLater) {
  Machine machine;
  DeviceBytes memory;
  memory.system.add_window(kWindow, 0x200);
  memory.system.add_window(kWindow + 0x200, 0x1000);
  const Kernel kernel(launch_of("add.u32 %r6, %r1, 7; atom.global.add.u32 %r7, [%rd1], %r6;", kWindow),
                      machine.config, 32);
  ASSERT_TRUE(machine.run(kernel, memory)) << machine.executor.fault().text;
  // The record is that of the last chunk, threads 32 to 39.
  ASSERT_EQ(machine.executor.access_count(), 1u);
  const LaneAccess& access = machine.executor.accesses()[0];
  EXPECT_EQ(access.mask, 0xffu);
  EXPECT_EQ(access.address[1], kSystemSpace + kWindow + 33 * 16);
  EXPECT_EQ(access.window_first, kSystemSpace + kWindow + 0x200);
  EXPECT_EQ(access.window_last, kSystemSpace + kWindow + 0x11ff);
  const Operation* atomic = nullptr;
  for (const Operation& op : kernel.operations) {
    if (op.instruction->op == ptx::Opcode::kAtom) atomic = &op;
  }
  ASSERT_NE(atomic, nullptr);
  SystemLanes lanes;
  lanes.chunk = 1;
  lanes.mask = 0xff;
  lanes.offset[1] = 4;
  machine.executor.capture(*atomic, lanes);
  EXPECT_EQ(reinterpret_cast<const std::uint32_t*>(lanes.operand[0].data())[1], 40u);
  // The transaction has read 1000 there; the operand's register may have another value by now.
  std::uint32_t bytes[2] = {1, 1000};
  std::uint32_t* const registers = machine.registers.chunk_base(1);
  registers[atomic->src[1].offset + 1] = 5;
  const std::uint32_t others = registers[atomic->dst[0] + 2];
  machine.executor.transfer(*atomic, lanes, 2, reinterpret_cast<std::uint8_t*>(bytes));
  EXPECT_EQ(bytes[1], 1040u);
  EXPECT_EQ(bytes[0], 1u);
  EXPECT_EQ(registers[atomic->dst[0] + 1], 1000u);
  EXPECT_EQ(registers[atomic->dst[0] + 2], others) << "its transaction is on its way";
}

// Whatever ran before, and wherever it was stopped, a kernel runs as on a new executor.
TEST(Executor, AKernelLeavesNoTraceForTheNext) {
  const std::vector<std::pair<std::string, std::uint64_t>> bodies = {
      {"mov.u32 %r6, %clock; mov.u64 %rd3, %globaltimer; st.global.u32 [%rd1], %r6; st.global.u64 [%rd1+8], "
       "%rd3;",
       kBase},
      {"st.shared.v4.u32 [%r3], {%r1, %r3, %r1, %r3}; ld.shared.u32 %r6, [%r3+8]; st.global.u32 [%rd1], %r6;",
       kBase + 0x4000},
      {"ld.shared.u32 %r6, [%r4+1000]; ld.local.u32 %r7, [%r5+16]; st.global.v2.u32 [%rd1], {%r6, %r7};",
       kBase},
      {"st.local.v4.u32 [%r5], {%r1, %r1, %r1, %r1}; ld.local.u8 %r6, [%r5+4]; st.global.u32 [%rd1], %r6;",
       kBase},
      {"cp.async.ca.shared.global [%r3], [%rd1], 16; ld.shared.u32 %r6, [%r3]; setp.gt.u32 %p1, %r1, 3;\n"
       "@%p1 red.global.add.u32 [%rd1], %r1;",
       kBase},
      {"st.global.u32 [%rd1], %r1; atom.global.add.u32 %r7, [%rd1], %r1;", kWindow},
      {"st.global.u32 [%rd1+2], %r1;", kBase},
      {"ld.global.u32 %r6, [%rd1];", kBase - 0x1000},
      {"st.global.u32 [%rd1], %r1; trap;", kBase},
  };
  std::mt19937 random(12);
  for (unsigned turn = 0; turn < 150; ++turn) {
    const auto kernel_of = [&](const machine::SmConfig& config) {
      const auto& [body, out] = bodies[random() % bodies.size()];
      return std::make_unique<const Kernel>(launch_of(body, out), config, 32);
    };
    Machine used;
    const auto before = kernel_of(used.config), after = kernel_of(used.config);
    DeviceBytes of_before, of_used, of_fresh;
    for (DeviceBytes* memory : {&of_before, &of_used, &of_fresh}) memory->system.add_window(kWindow, 0x1000);
    used.run(*before, of_before, random() % 24);
    if (random() % 2 == 0) used.executor.reset();
    used.trace.str("");
    const unsigned most = random() % 24;
    used.run(*after, of_used, most);
    Machine fresh;
    fresh.run(*after, of_fresh, most);
    ASSERT_EQ(used.state(*after, of_used), fresh.state(*after, of_fresh)) << "turn " << turn;
  }
}

TEST(Kernel, LaunchesOfOneProgramShareItsTableWhileTheyLive) {
  const machine::SmConfig config;
  OperationTables tables;
  const dispatch::Launch launch = launch_of("st.global.u32 [%rd1], %r1;");
  auto first = std::make_unique<const Kernel>(launch, config, 32, &tables);
  const Kernel second(launch, config, 32, &tables);
  EXPECT_EQ(first->table, second.table);
  first.reset();
  EXPECT_EQ(Kernel(launch, config, 32, &tables).table, second.table);
  EXPECT_NE(Kernel(launch_of("st.global.u32 [%rd1], %r1;"), config, 32, &tables).table, second.table);
  // cvta.param is the launch's own.
  const dispatch::Launch own = launch_of("cvta.param.u64 %rd3, out; st.global.u64 [%rd1], %rd3;");
  Kernel a(own, config, 32, &tables), b(own, config, 32, &tables);
  a.set_parameter_address(kBase + 0x100);
  b.set_parameter_address(kBase + 0x200);
  EXPECT_NE(a.table, b.table);
  for (const Kernel* kernel : {&a, &b}) {
    for (const Operation& op : kernel->operations) {
      if (op.instruction->op != ptx::Opcode::kCvta) continue;
      EXPECT_EQ(static_cast<const std::uint64_t*>(op.src[1].constant)[31], kernel->launch.parameter_address);
    }
  }
}

}  // namespace
}  // namespace weft::execute
