// The socket to GDB: one client at a time, from this machine only.
#ifndef WEFT_DEBUGGER_CONNECTION_H
#define WEFT_DEBUGGER_CONNECTION_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::debugger {

class Connection {
 public:
  // Listens at 127.0.0.1; port 0: at a free port. Throws InputError if the port is taken or may not be used.
  explicit Connection(std::uint16_t port);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::uint16_t port() const { return port_; }
  bool open() const { return client_ >= 0; }
  // Waits up to `milliseconds` for a client. Nobody else can connect then.
  bool accept(int milliseconds);
  // False: the client is gone, and the connection closed.
  bool send(std::string_view bytes);
  // Waits up to `milliseconds` for bytes; 0: none have come. Closes the connection if the client is gone.
  std::size_t receive(char* to, std::size_t room, int milliseconds);
  void close();

 private:
  int listener_ = -1, client_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace weft::debugger

#endif
