#include "debugger/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "weft/common/error.h"

namespace weft::debugger {
namespace {

[[noreturn]] void refuse(std::uint16_t port, int listener, const char* what) {
  const std::string why = std::strerror(errno);
  if (listener >= 0) ::close(listener);
  throw InputError("--gdb", "port " + std::to_string(port) + " of 127.0.0.1 " + what + ": " + why +
                                "; allowed: a port that is not in use, or 0 for any free port");
}

bool readable(int file, int milliseconds) {
  pollfd wanted{file, POLLIN, 0};
  return ::poll(&wanted, 1, milliseconds) == 1;
}

}  // namespace

Connection::Connection(std::uint16_t port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0) refuse(port, listener_, "cannot be used");
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t bytes = sizeof address;
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      ::listen(listener_, 1) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) {
    refuse(port, listener_, "cannot be used");
  }
  port_ = ntohs(address.sin_port);
}

Connection::~Connection() {
  close();
  if (listener_ >= 0) ::close(listener_);
}

bool Connection::accept(int milliseconds) {
  if (!readable(listener_, milliseconds)) return false;
  client_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client_ < 0) return false;
  const int on = 1;
  ::setsockopt(client_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::close(std::exchange(listener_, -1));
  return true;
}

bool Connection::send(std::string_view bytes) {
  while (open() && !bytes.empty()) {
    const ssize_t sent = ::send(client_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EINTR) {
      close();
    }
  }
  return open();
}

std::size_t Connection::receive(char* to, std::size_t room, int milliseconds) {
  if (!open() || (milliseconds != 0 && !readable(client_, milliseconds))) return 0;
  const ssize_t got = ::recv(client_, to, room, MSG_DONTWAIT);
  if (got > 0) return static_cast<std::size_t>(got);
  if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) close();
  return 0;
}

void Connection::close() {
  if (client_ >= 0) ::close(std::exchange(client_, -1));
}

}  // namespace weft::debugger
