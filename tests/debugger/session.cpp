#include "debugger/session.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "debugger/connection.h"

namespace weft::debugger {

using namespace std::chrono_literals;

Session::Session(const std::vector<std::string>& arguments, const std::vector<std::string>& program) {
  port_ = Connection(0).port();
  std::vector<std::string> words = arguments;
  words.insert(words.end(), {"--gdb", std::to_string(port_), "--gdb-symbols", symbols()});
  words.insert(words.end(), program.begin(), program.end());
  run_ = std::async(std::launch::async, [words] { return end_to_end::weft(words); });
}

Session::~Session() {
  if (run_.valid()) run_.wait();
}

void Session::wait_for_symbols() const {
  std::error_code error;
  for (int tries = 0; tries < 600; ++tries) {
    if (std::filesystem::file_size(symbols(), error) > 0 && !error) return;
    std::this_thread::sleep_for(50ms);
  }
  throw std::runtime_error("no symbols were written");
}

std::string Session::gdb(const std::vector<std::string>& commands) {
  std::string script =
      "set pagination off\nset width 0\nset breakpoint pending on\ntarget remote 127.0.0.1:" +
      std::to_string(port_) + "\n";
  for (const std::string& command : commands) script += command + "\n";
  const end_to_end::Exit exit =
      end_to_end::run(WEFT_GDB, {"-nx", "-batch", "-x", folder_.write("script", script)});
  return exit.out + exit.err;
}

const end_to_end::Exit& Session::wait() {
  if (run_.valid()) exit_ = run_.get();
  return exit_;
}

Client::Client(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  for (int tries = 0; tries < 600; ++tries) {
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
    std::this_thread::sleep_for(50ms);
  }
  throw std::runtime_error("nobody listens");
}

Client::~Client() {
  close(socket_);
}

void Client::send(const std::string& bytes) const {
  if (::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) throw std::runtime_error("send");
}

std::string Client::receive() {
  while (true) {
    for (PacketEvent event; packets_.next(event);) {
      if (event.kind != PacketEvent::Kind::kPacket) continue;
      send("+");
      return event.payload;
    }
    pollfd wanted{socket_, POLLIN, 0};
    char bytes[4096];
    if (poll(&wanted, 1, 10'000) != 1) throw std::runtime_error("no answer");
    const ssize_t got = recv(socket_, bytes, sizeof bytes, 0);
    if (got <= 0) throw std::runtime_error("the connection is closed");
    packets_.feed(bytes, static_cast<std::size_t>(got));
  }
}

}  // namespace weft::debugger
