#include "soc/qemu_doorbells.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "weft/common/error.h"

namespace weft::soc {
namespace {

// Messages of the protocol: its version, the number of this guest, the memory, and a vector of peer 0.
constexpr std::int64_t kVersion = 0, kGuest = 0, kMemory = -1;
constexpr int kNoDescriptor = -1;

}  // namespace

QemuDoorbells::QemuDoorbells(int memory, unsigned vectors) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    throw InputError("QEMU", std::strerror(errno));
  ours_ = pair[0];
  theirs_ = pair[1];
  tell(kVersion, kNoDescriptor);
  tell(kGuest, kNoDescriptor);
  tell(kMemory, memory);
  for (unsigned i = 0; i < vectors; ++i) {
    const int vector = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (vector < 0) throw InputError("QEMU", std::strerror(errno));
    vectors_.push_back(vector);
    tell(kGuest, vector);
  }
}

QemuDoorbells::~QemuDoorbells() {
  for (const int vector : vectors_) close(vector);
  close(ours_);
  if (theirs_ >= 0) close(theirs_);
}

void QemuDoorbells::tell(std::int64_t value, int descriptor) {
  iovec part{&value, sizeof value};
  alignas(cmsghdr) unsigned char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor != kNoDescriptor) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  }
  // The socket's buffer holds all messages, so nobody has to read yet.
  if (sendmsg(ours_, &message, MSG_NOSIGNAL | MSG_DONTWAIT) != static_cast<ssize_t>(sizeof value))
    throw InputError("QEMU", std::string("cannot be told of interrupts: ") + std::strerror(errno));
}

std::vector<std::string> QemuDoorbells::arguments() const {
  return {"-chardev", "socket,id=doorbells,fd=" + std::to_string(theirs_), "-device",
          "ivshmem-doorbell,chardev=doorbells,vectors=" + std::to_string(vectors_.size())};
}

void QemuDoorbells::started() {
  close(theirs_);
  theirs_ = -1;
}

void QemuDoorbells::ring(unsigned vector) {
  eventfd_write(vectors_.at(vector), 1);
}

}  // namespace weft::soc
