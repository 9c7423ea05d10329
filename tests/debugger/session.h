// A run of `weft` with GDB, or with a client of the test's own, at its port.
#ifndef WEFT_TESTS_DEBUGGER_SESSION_H
#define WEFT_TESTS_DEBUGGER_SESSION_H

#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "debugger/packets.h"
#include "end_to_end/process.h"

namespace weft::debugger {

class Session {
 public:
  // Starts `weft ARGUMENTS --gdb PORT --gdb-symbols FILE`, `cuda` with its options before the program.
  explicit Session(const std::vector<std::string>& arguments, const std::vector<std::string>& program = {});
  ~Session();

  std::uint16_t port() const { return port_; }
  std::string symbols() const { return folder_.path("kernels.elf"); }
  // Returns what GDB says to these commands behind `target remote`.
  std::string gdb(const std::vector<std::string>& commands);
  // Waits for the end of `weft`.
  const end_to_end::Exit& wait();
  void wait_for_symbols() const;

 private:
  test::Folder folder_;
  std::uint16_t port_ = 0;
  std::future<end_to_end::Exit> run_;
  end_to_end::Exit exit_;
};

// Speaks the protocol itself.
class Client {
 public:
  explicit Client(std::uint16_t port);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(const std::string& bytes) const;
  // The next packet. Throws std::runtime_error if none comes for ten seconds, or the other side is gone.
  std::string receive();
  std::string ask(const std::string& payload) {
    send(packet_of(payload));
    return receive();
  }

 private:
  int socket_;
  PacketReader packets_;
};

}  // namespace weft::debugger

#endif
