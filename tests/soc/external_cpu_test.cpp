// Clients of the external-CPU protocol: ours (platform/external), in a thread, and ones that do not keep to
// it.
#include "soc/external_cpu.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include "bus/hop_monitor.h"
#include "platform/firmware/soc_map.h"
#include "soc/finisher.h"
#include "soc/system_bus.h"
#include "soc/timer.h"
#include "weft/common/error.h"
extern "C" {
#include "platform/external/weft_external.h"
}

namespace weft::soc::external_cpu_test {
namespace {

using sc_core::sc_time;

std::string socket_path() {
  return testing::TempDir() + "/weft-" + std::to_string(getpid()) + ".socket";
}

RamConfig small_ram() {
  RamConfig config;
  config.bytes = 64 * 4096;
  return config;
}

// Bus 10 ns, devices 5 ns, RAM 50 ns and 16 bytes/ns; the timer's interrupt goes to the CPU.
struct System {
  explicit System(bool reconnect = false)
      : bus("bus", SystemBus::Config{10, 4}, 1,
            {{"ram", SOC_RAM_BASE, small_ram().bytes},
             {"timer", SOC_TIMER_BASE, SOC_DEVICE_BYTES},
             {"system", SOC_SYSTEM_BASE, SOC_DEVICE_BYTES}}),
        ram("ram", small_ram()),
        timer("timer", sc_time(5, sc_core::SC_NS)),
        finisher("finisher", small_ram().bytes, sc_time(5, sc_core::SC_NS)),
        monitor("monitor"),
        cpu("cpu", ExternalCpu::Config{socket_path(), reconnect}, &ram, SOC_RAM_BASE),
        end("end", finisher, cpu) {
    cpu.socket.bind(monitor.target);
    monitor.initiator.bind(bus.initiators[0]);
    bus.targets[0].bind(ram.socket);
    bus.targets[1].bind(timer.socket);
    bus.targets[2].bind(finisher.socket);
    timer.interrupt(line);
    cpu.interrupt(line);
  }
  // Runs until the program behind `client` has ended the simulation.
  void run(const std::function<void()>& client) {
    std::thread thread(client);
    sc_core::sc_start();
    thread.join();
    EXPECT_EQ(monitor.report(), "");
  }
  struct End : sc_core::sc_module {
    SC_HAS_PROCESS(End);
    End(sc_core::sc_module_name name, const Finisher& finisher, const ExternalCpu& cpu) : sc_module(name) {
      SC_METHOD(pause);
      sensitive << finisher.finished() << cpu.faulted();
      dont_initialize();
    }
    void pause() { sc_core::sc_pause(); }
  };
  SystemBus bus;
  Ram ram;
  Timer timer;
  Finisher finisher;
  HopMonitor monitor;
  ExternalCpu cpu;
  End end;
  sc_core::sc_signal<bool> line;
};

constexpr std::uint64_t kExit = SOC_SYSTEM_BASE + SOC_SYSTEM_EXIT;

void exit_with(weft_external& cpu, std::uint32_t code) {
  EXPECT_EQ(weft_external_write(&cpu, kExit, &code, 4), WEFT_EXTERNAL_OK);
  weft_external_disconnect(&cpu);
}

TEST(ExternalCpu, AccessesTakeTheirTimeAndErrorsAreNamed) {
  System system;
  system.run([] {
    weft_external cpu;
    ASSERT_EQ(weft_external_connect(&cpu, socket_path().c_str()), 0) << std::strerror(errno);
    EXPECT_EQ(cpu.picoseconds, 0u);
    std::uint32_t value = 0;
    EXPECT_EQ(weft_external_read(&cpu, SOC_TIMER_BASE, &value, 4), 0);
    EXPECT_EQ(value, 15u);
    EXPECT_EQ(cpu.picoseconds, 15'000u);
    // 10,000 bytes go in three messages, 4096 + 4096 + 1808: each 10 + 50 ns and 16 bytes a nanosecond.
    std::vector<unsigned char> out(10'000, 7), in(10'000);
    EXPECT_EQ(weft_external_write(&cpu, SOC_RAM_BASE, out.data(), out.size()), 0);
    EXPECT_EQ(cpu.picoseconds, 15'000u + 3 * 60'000 + 625'000);
    EXPECT_EQ(weft_external_read(&cpu, SOC_RAM_BASE, in.data(), in.size()), 0);
    EXPECT_EQ(in, out);
    EXPECT_EQ(weft_external_read(&cpu, 0, &value, 4), WEFT_EXTERNAL_ADDRESS_ERROR);
    EXPECT_EQ(weft_external_read(&cpu, SOC_TIMER_BASE, in.data(), 8), WEFT_EXTERNAL_BURST_ERROR);
    EXPECT_EQ(weft_external_write(&cpu, SOC_TIMER_BASE, &value, 4), WEFT_EXTERNAL_COMMAND_ERROR);
    exit_with(cpu, 5);
  });
  EXPECT_EQ(system.finisher.exit_code(), 5);
}

TEST(ExternalCpu, MemoryIsSharedBothWays) {
  System system;
  system.run([] {
    weft_external cpu;
    ASSERT_EQ(weft_external_connect(&cpu, socket_path().c_str()), 0);
    ASSERT_NE(cpu.memory, nullptr);
    EXPECT_EQ(cpu.memory_address, SOC_RAM_BASE);
    EXPECT_EQ(cpu.memory_bytes, 64u * 4096);
    cpu.memory[cpu.memory_bytes - 1] = 42;
    unsigned char byte = 0;
    EXPECT_EQ(weft_external_read(&cpu, SOC_RAM_BASE + cpu.memory_bytes - 1, &byte, 1), 0);
    EXPECT_EQ(byte, 42);
    byte = 43;
    EXPECT_EQ(weft_external_write(&cpu, SOC_RAM_BASE + 100, &byte, 1), 0);
    EXPECT_EQ(cpu.memory[100], 43);
    exit_with(cpu, 0);
  });
  EXPECT_EQ(system.finisher.exit_code(), 0);
}

TEST(ExternalCpu, TimePassesAsAskedOrUntilTheInterrupt) {
  System system;
  system.run([] {
    weft_external cpu;
    ASSERT_EQ(weft_external_connect(&cpu, socket_path().c_str()), 0);
    EXPECT_EQ(weft_external_advance(&cpu, 1000, WEFT_EXTERNAL_UNTIL_INTERRUPT), 0);
    EXPECT_EQ(cpu.picoseconds, 1'000'000u);
    EXPECT_EQ(cpu.interrupt, 0u);
    const std::uint32_t low = 3000, high = 0;
    EXPECT_EQ(weft_external_write(&cpu, SOC_TIMER_BASE + SOC_TIMER_COMPARE_LO, &low, 4), 0);
    EXPECT_EQ(weft_external_write(&cpu, SOC_TIMER_BASE + SOC_TIMER_COMPARE_HI, &high, 4), 0);
    EXPECT_EQ(weft_external_advance(&cpu, 1'000'000, WEFT_EXTERNAL_UNTIL_INTERRUPT), 0);
    EXPECT_EQ(cpu.picoseconds, 3'000'000u);
    EXPECT_EQ(cpu.interrupt, 1u);
    EXPECT_EQ(weft_external_advance(&cpu, 1'000'000, WEFT_EXTERNAL_UNTIL_INTERRUPT), 0);
    EXPECT_EQ(cpu.picoseconds, 3'000'000u);  // it is high already
    EXPECT_EQ(weft_external_advance(&cpu, 500, 0), 0);
    EXPECT_EQ(cpu.picoseconds, 3'500'000u);
    exit_with(cpu, 0);
  });
}

TEST(ExternalCpu, TheSocketIsItsOwnersAloneAndGoesWithIt) {
  {
    System system;
    struct stat status{};
    ASSERT_EQ(stat(socket_path().c_str(), &status), 0);
    EXPECT_TRUE(S_ISSOCK(status.st_mode));
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    EXPECT_THROW(ExternalCpu("second", ExternalCpu::Config{socket_path(), false}, nullptr, 0), InputError);
    EXPECT_THROW(ExternalCpu("long", ExternalCpu::Config{std::string(200, 'x'), false}, nullptr, 0),
                 InputError);
  }
  EXPECT_NE(access(socket_path().c_str(), F_OK), 0);
}

TEST(ExternalCpu, AClientThatLeavesEarlyIsAFault) {
  System system;
  system.run([] {
    weft_external cpu;
    ASSERT_EQ(weft_external_connect(&cpu, socket_path().c_str()), 0);
    weft_external_disconnect(&cpu);
  });
  EXPECT_NE(system.cpu.fault().find("disconnected before the end"), std::string::npos);
}

// A connection that sends these bytes and no more; returns all that comes back.
std::string talk(const std::string& bytes) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, socket_path().c_str());
  const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  // The other side may close before it has read everything.
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t part = send(client, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (part <= 0) break;
    sent += static_cast<std::size_t>(part);
  }
  shutdown(client, SHUT_WR);
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = recv(client, buffer, sizeof buffer, 0)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(got));
  close(client);
  return answer;
}

template <class... Numbers>
std::string packed(Numbers... numbers) {
  std::string text;
  (text.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return text;
}

std::string message(std::uint32_t type, const std::string& content) {
  return packed(type, static_cast<std::uint32_t>(content.size())) + content;
}

const std::string& greeting() {
  static const std::string kText = message(
      WEFT_EXTERNAL_HELLO, packed(std::uint32_t{WEFT_EXTERNAL_MAGIC}, std::uint32_t{WEFT_EXTERNAL_VERSION}));
  return kText;
}

// The status of the last reply, which is one without more content than the state.
std::uint32_t last_status(const std::string& answer) {
  weft_external_state state{};
  if (answer.size() < sizeof state) return ~0u;
  std::memcpy(&state, answer.data() + answer.size() - sizeof state, sizeof state);
  return state.status;
}

TEST(ExternalCpu, MalformedMessagesEndTheConnectionAndNothingElse) {
  System system(true);
  system.run([&] {
    const std::uint64_t ram = SOC_RAM_BASE;
    const std::string bad[] = {
        message(WEFT_EXTERNAL_HELLO, ""),
        message(WEFT_EXTERNAL_HELLO, packed(0u, 1u)),
        message(WEFT_EXTERNAL_HELLO, packed(std::uint32_t{WEFT_EXTERNAL_MAGIC}, 2u)),
        message(WEFT_EXTERNAL_READ, packed(ram, 4u)),  // without a greeting
        greeting() + greeting(),
        greeting() + message(0, ""),
        greeting() + message(5, ""),
        greeting() + message(WEFT_EXTERNAL_REPLY | WEFT_EXTERNAL_READ, packed(ram, 4u)),
        greeting() + message(WEFT_EXTERNAL_READ, packed(ram)),
        greeting() + message(WEFT_EXTERNAL_READ, packed(ram, 0u)),
        greeting() + message(WEFT_EXTERNAL_READ, packed(ram, 4097u)),
        greeting() + message(WEFT_EXTERNAL_READ, packed(ram, ~0u)),
        greeting() + message(WEFT_EXTERNAL_WRITE, packed(ram)),
        greeting() + packed(std::uint32_t{WEFT_EXTERNAL_WRITE}, 4105u),
        greeting() + packed(std::uint32_t{WEFT_EXTERNAL_WRITE}, ~0u),
        greeting() + message(WEFT_EXTERNAL_ADVANCE, packed(std::uint64_t{1})),
        greeting() + message(WEFT_EXTERNAL_ADVANCE, packed(std::uint64_t{1}, 2u)),
        greeting() + message(WEFT_EXTERNAL_ADVANCE, packed(~std::uint64_t{0}, 0u)),
    };
    for (const std::string& bytes : bad) EXPECT_EQ(last_status(talk(bytes)), WEFT_EXTERNAL_MALFORMED);
    // Cut off at every byte: no reply to what did not come whole.
    const std::string whole = greeting() + message(WEFT_EXTERNAL_READ, packed(ram, 4u));
    for (std::size_t length = 0; length < whole.size(); ++length) talk(whole.substr(0, length));
    // Anything at all, with and without a greeting, types and lengths mostly plausible.
    std::mt19937 random(1);
    for (int i = 0; i < 1000; ++i) {
      std::string bytes = i % 2 == 0 ? greeting() : "";
      for (unsigned n = random() % 4; n != 0; --n) {
        std::string content(random() % 24, '\0');
        for (char& c : content) c = static_cast<char>(random());
        bytes += random() % 8 == 0 ? content : message(static_cast<std::uint32_t>(random() % 5), content);
      }
      talk(bytes);
    }
    weft_external cpu;
    ASSERT_EQ(weft_external_connect(&cpu, socket_path().c_str()), 0);
    exit_with(cpu, 3);
  });
  EXPECT_EQ(system.cpu.fault(), "");
  EXPECT_EQ(system.finisher.exit_code(), 3);
}

}  // namespace
}  // namespace weft::soc::external_cpu_test
