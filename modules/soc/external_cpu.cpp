#include "soc/external_cpu.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "weft/common/error.h"

namespace weft::soc {

using sc_core::sc_time;

namespace {

constexpr std::size_t kMostContent = sizeof(std::uint64_t) + WEFT_EXTERNAL_MOST_DATA;

// A listening socket that only its owner may use. Throws InputError.
int listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    throw InputError("socket of the external CPU", "found a path of " + std::to_string(path.size()) +
                                                       " characters; allowed: 1 to " +
                                                       std::to_string(sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // The mode of the socket before bind() is that of the file: there is no moment in which others may connect.
  if (listener < 0 || fchmod(listener, 0600) != 0 ||
      bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, 1) != 0) {
    const std::string reason = std::strerror(errno);
    if (listener >= 0) close(listener);
    throw InputError("socket of the external CPU " + path, reason);
  }
  return listener;
}

std::uint32_t status_of(tlm::tlm_response_status response) {
  switch (response) {
    case tlm::TLM_OK_RESPONSE:
      return WEFT_EXTERNAL_OK;
    case tlm::TLM_ADDRESS_ERROR_RESPONSE:
      return WEFT_EXTERNAL_ADDRESS_ERROR;
    case tlm::TLM_COMMAND_ERROR_RESPONSE:
      return WEFT_EXTERNAL_COMMAND_ERROR;
    case tlm::TLM_BURST_ERROR_RESPONSE:
      return WEFT_EXTERNAL_BURST_ERROR;
    default:
      return WEFT_EXTERNAL_BUS_ERROR;
  }
}

std::uint64_t picoseconds() {
  static const std::uint64_t unit = sc_time(1, sc_core::SC_PS).value();
  return sc_core::sc_time_stamp().value() / unit;
}

template <class T>
T number_at(const std::vector<unsigned char>& content, std::size_t offset) {
  T value;
  std::memcpy(&value, content.data() + offset, sizeof value);
  return value;
}

}  // namespace

void ExternalCpu::Config::describe(config::Visitor& v) {
  v.text("socket", socket, "path of the Unix socket, made with mode 0600 and removed at the end");
  v.boolean("reconnect", reconnect,
            "wait for another client after a client has disconnected or broken the protocol");
}

ExternalCpu::ExternalCpu(sc_core::sc_module_name name, const Config& config, const Ram* ram,
                         std::uint64_t ram_base)
    : sc_module(name),
      socket("socket"),
      interrupt("interrupt"),
      config_(config),
      ram_(ram),
      ram_base_(ram_base),
      listener_(listen_at(config.socket)) {
  content_.reserve(kMostContent);
  SC_THREAD(run);
}

ExternalCpu::~ExternalCpu() {
  if (client_ >= 0) close(client_);
  close(listener_);
  unlink(config_.socket.c_str());
}

void ExternalCpu::bind(statistics::Group& group) {
  group.counter("reads", units::kTransactions, "reads", reads_);
  group.counter("writes", units::kTransactions, "writes", writes_);
  group.counter("advances", units::kRequests, "requests to let time pass", advances_);
  group.counter("clients", statistics::Unit("connections"), "clients that have connected", clients_);
  group.counter("malformed", statistics::Unit("messages"), "messages that broke the protocol", malformed_);
}

void ExternalCpu::stop(const std::string& reason) {
  if (!fault_.empty()) return;
  fault_ = std::string(name()) + ": " + reason;
  faulted_.notify(sc_core::SC_ZERO_TIME);
}

// Waits until there is something to read; false: gave up.
bool ExternalCpu::readable(int descriptor) {
  for (;;) {
    pollfd poll_for{descriptor, POLLIN, 0};
    const int ready = poll(&poll_for, 1, 100);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (give_up_ && give_up_()) return false;
  }
}

bool ExternalCpu::accept_client() {
  if (!readable(listener_)) return false;
  client_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  greeted_ = gone_ = false;
  if (client_ >= 0) ++clients_;
  return client_ >= 0;
}

bool ExternalCpu::receive_bytes(void* to, std::size_t bytes) {
  auto* at = static_cast<unsigned char*>(to);
  while (bytes != 0) {
    if (!readable(client_)) return false;
    const ssize_t got = recv(client_, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

ExternalCpu::Received ExternalCpu::receive() {
  if (!receive_bytes(&header_, sizeof header_)) return Received::kGone;
  if (header_.bytes > kMostContent) return Received::kMalformed;
  content_.resize(header_.bytes);
  return receive_bytes(content_.data(), content_.size()) ? Received::kMessage : Received::kGone;
}

void ExternalCpu::reply(std::uint32_t status, const void* data, std::size_t bytes, int descriptor) {
  const weft_external_state state{status, interrupt.read() ? 1u : 0u, picoseconds()};
  const weft_external_header header{header_.type | WEFT_EXTERNAL_REPLY,
                                    static_cast<std::uint32_t>(sizeof state + bytes)};
  reply_.resize(sizeof header + sizeof state + bytes);
  std::memcpy(reply_.data(), &header, sizeof header);
  std::memcpy(reply_.data() + sizeof header, &state, sizeof state);
  if (bytes != 0) std::memcpy(reply_.data() + sizeof header + sizeof state, data, bytes);

  iovec part{reply_.data(), reply_.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) unsigned char control[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  }
  while (part.iov_len != 0) {
    const ssize_t sent = sendmsg(client_, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) {
      gone_ = true;
      return;
    }
    part.iov_base = static_cast<unsigned char*>(part.iov_base) + sent;
    part.iov_len -= static_cast<std::size_t>(sent);
    message.msg_controllen = 0;  // once is enough
  }
}

bool ExternalCpu::hello() {
  if (greeted_ || content_.size() != 8 || number_at<std::uint32_t>(content_, 0) != WEFT_EXTERNAL_MAGIC ||
      number_at<std::uint32_t>(content_, 4) != WEFT_EXTERNAL_VERSION) {
    return false;
  }
  greeted_ = true;
  const std::uint64_t memory[2] = {ram_base_, ram_ == nullptr ? 0 : ram_->bytes()};
  reply(WEFT_EXTERNAL_OK, memory, sizeof memory, ram_ == nullptr ? -1 : ram_->file_descriptor());
  return true;
}

bool ExternalCpu::access(tlm::tlm_command command) {
  const bool write = command == tlm::TLM_WRITE_COMMAND;
  const bool whole = write ? content_.size() > 8 : content_.size() == 12;
  if (!greeted_ || !whole) return false;
  const auto bytes =
      write ? static_cast<std::uint32_t>(content_.size() - 8) : number_at<std::uint32_t>(content_, 8);
  if (bytes < 1 || bytes > WEFT_EXTERNAL_MOST_DATA) return false;
  ++(write ? writes_ : reads_);
  const auto address = number_at<std::uint64_t>(content_, 0);
  if (!write) content_.resize(8 + bytes);
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(content_.data() + 8);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  sc_time delay = sc_core::SC_ZERO_TIME;
  socket->b_transport(payload, delay);
  // At least a nanosecond, in which an interrupt line that the access caused to change does so.
  wait(std::max(delay, sc_time(1, sc_core::SC_NS)));
  const bool data = !write && payload.is_response_ok();
  reply(status_of(payload.get_response_status()), content_.data() + 8, data ? bytes : 0);
  return true;
}

bool ExternalCpu::advance() {
  if (!greeted_ || content_.size() != 12) return false;
  const auto nanoseconds = number_at<std::uint64_t>(content_, 0);
  const auto flags = number_at<std::uint32_t>(content_, 8);
  if (nanoseconds > WEFT_EXTERNAL_MOST_NANOSECONDS || (flags & ~WEFT_EXTERNAL_UNTIL_INTERRUPT) != 0)
    return false;
  ++advances_;
  const sc_time time(static_cast<double>(nanoseconds), sc_core::SC_NS);
  if ((flags & WEFT_EXTERNAL_UNTIL_INTERRUPT) == 0) {
    wait(time);
  } else if (!interrupt.read()) {
    wait(time, interrupt.posedge_event());
  }
  reply(WEFT_EXTERNAL_OK);
  return true;
}

bool ExternalCpu::answer() {
  switch (header_.type) {
    case WEFT_EXTERNAL_HELLO:
      return hello();
    case WEFT_EXTERNAL_READ:
      return access(tlm::TLM_READ_COMMAND);
    case WEFT_EXTERNAL_WRITE:
      return access(tlm::TLM_WRITE_COMMAND);
    case WEFT_EXTERNAL_ADVANCE:
      return advance();
    default:
      return false;
  }
}

void ExternalCpu::serve() {
  std::string why = "the client disconnected before the end";
  while (!gone_) {
    // Who ends the simulation at this instant does so before it waits for the client.
    wait(sc_core::SC_ZERO_TIME);
    const Received received = receive();
    if (received == Received::kGone) break;
    if (received == Received::kMessage && answer()) continue;
    ++malformed_;
    reply(WEFT_EXTERNAL_MALFORMED);
    why = "the client sent a malformed message of type " + std::to_string(header_.type) + " with " +
          std::to_string(header_.bytes) + " bytes";
    break;
  }
  close(client_);
  client_ = -1;
  if (!config_.reconnect) stop(why);
}

void ExternalCpu::run() {
  while (fault_.empty()) {
    if (accept_client()) {
      serve();
    } else {
      stop("no client has connected");
    }
    if (give_up_ && give_up_()) stop("interrupted");
  }
}

}  // namespace weft::soc
