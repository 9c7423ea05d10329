// QEMU's side of the ivshmem protocol, as ivshmem-doorbell reads it (QEMU, docs/specs/ivshmem-spec.rst).
#include "soc/qemu_doorbells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace weft::soc::qemu_doorbells_test {
namespace {

struct Message {
  std::int64_t value = 0;
  int descriptor = -1;
};

Message receive(int socket) {
  Message message;
  iovec part{&message.value, sizeof message.value};
  alignas(cmsghdr) unsigned char control[CMSG_SPACE(sizeof(int))];
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  EXPECT_EQ(recvmsg(socket, &header, MSG_DONTWAIT), 8);
  const cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  if (rights != nullptr) std::memcpy(&message.descriptor, CMSG_DATA(rights), sizeof(int));
  return message;
}

TEST(QemuDoorbells, TellQemuOfMemoryAndInterrupts) {
  const int memory = memfd_create("memory", 0);
  ASSERT_EQ(ftruncate(memory, 4096), 0);
  QemuDoorbells doorbells(memory, 2);
  const std::string socket = "fd=" + std::to_string(doorbells.inherited());
  EXPECT_THAT(doorbells.arguments(),
              testing::ElementsAre("-chardev", "socket,id=doorbells," + socket, "-device",
                                   "ivshmem-doorbell,chardev=doorbells,vectors=2"));

  const int qemu = doorbells.inherited();
  EXPECT_EQ(receive(qemu).value, 0);  // version
  EXPECT_EQ(receive(qemu).value, 0);  // number of this guest
  const Message shared = receive(qemu);
  EXPECT_EQ(shared.value, -1);
  auto* const bytes = static_cast<char*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, shared.descriptor, 0));
  ASSERT_NE(bytes, MAP_FAILED);
  ASSERT_EQ(pwrite(memory, "weft", 4, 100), 4);
  EXPECT_EQ(std::string(bytes + 100, 4), "weft");

  const Message first = receive(qemu), second = receive(qemu);
  EXPECT_EQ(first.value, 0);
  EXPECT_EQ(second.value, 0);
  eventfd_t count = 0;
  doorbells.ring(1);
  EXPECT_NE(eventfd_read(first.descriptor, &count), 0) << "of the other vector";
  EXPECT_EQ(eventfd_read(second.descriptor, &count), 0);
  EXPECT_EQ(count, 1u);
  for (int i = 0; i < 3; ++i) doorbells.ring(0);  // not taken yet: one interrupt
  EXPECT_EQ(eventfd_read(first.descriptor, &count), 0);
  EXPECT_EQ(count, 3u);

  munmap(bytes, 4096);
  for (const int descriptor : {memory, shared.descriptor, first.descriptor, second.descriptor})
    close(descriptor);
}

}  // namespace
}  // namespace weft::soc::qemu_doorbells_test
