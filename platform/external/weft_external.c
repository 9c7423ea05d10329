#define _POSIX_C_SOURCE 200809L
#include "weft_external.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int send_all(int socket, const void* data, size_t bytes) {
  const unsigned char* at = data;
  while (bytes != 0) {
    const ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return -1;
    at += sent;
    bytes -= (size_t)sent;
  }
  return 0;
}

/* A file descriptor that comes with the bytes goes to *descriptor, if that is asked for. */
static int receive_all(int socket, void* data, size_t bytes, int* descriptor) {
  unsigned char* at = data;
  while (bytes != 0) {
    struct iovec part;
    struct msghdr message;
    union {
      struct cmsghdr header;
      unsigned char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct cmsghdr* rights;
    ssize_t got;
    part.iov_base = at;
    part.iov_len = bytes;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.space;
    message.msg_controllen = sizeof control.space;
    got = recvmsg(socket, &message, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = ECONNRESET;
    if (got <= 0) return -1;
    for (rights = CMSG_FIRSTHDR(&message); rights != 0; rights = CMSG_NXTHDR(&message, rights)) {
      int received;
      if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) continue;
      memcpy(&received, CMSG_DATA(rights), sizeof received);
      if (descriptor != 0 && *descriptor < 0) {
        *descriptor = received;
      } else {
        close(received);
      }
    }
    at += got;
    bytes -= (size_t)got;
  }
  return 0;
}

static int protocol_error(void) {
  errno = EPROTO;
  return -1;
}

/* Sends a request of two parts and receives the reply, whose content beyond the state must have `want` bytes,
 * or none if the status is not OK. Returns the status, or -1. */
static int call(weft_external* cpu, uint32_t type, const void* first, size_t first_bytes, const void* second,
                size_t second_bytes, void* reply, size_t want, int* descriptor) {
  struct weft_external_header header;
  struct weft_external_state state;
  header.type = type;
  header.bytes = (uint32_t)(first_bytes + second_bytes);
  if (send_all(cpu->socket, &header, sizeof header) != 0 || send_all(cpu->socket, first, first_bytes) != 0 ||
      send_all(cpu->socket, second, second_bytes) != 0 ||
      receive_all(cpu->socket, &header, sizeof header, descriptor) != 0)
    return -1;
  if (header.type != (type | WEFT_EXTERNAL_REPLY) || header.bytes < sizeof state) return protocol_error();
  if (receive_all(cpu->socket, &state, sizeof state, descriptor) != 0) return -1;
  cpu->interrupt = state.interrupt;
  cpu->picoseconds = state.picoseconds;
  if (header.bytes != sizeof state + (state.status == WEFT_EXTERNAL_OK ? want : 0)) return protocol_error();
  if (state.status == WEFT_EXTERNAL_OK && receive_all(cpu->socket, reply, want, descriptor) != 0) return -1;
  return (int)state.status;
}

static int greet(weft_external* cpu) {
  const uint32_t magic_and_version[2] = {WEFT_EXTERNAL_MAGIC, WEFT_EXTERNAL_VERSION};
  uint64_t memory[2];
  int descriptor = -1;
  int status = call(cpu, WEFT_EXTERNAL_HELLO, magic_and_version, sizeof magic_and_version, 0, 0, memory,
                    sizeof memory, &descriptor);
  if (status > 0) status = protocol_error();
  if (status == 0 && descriptor >= 0 && memory[1] != 0) {
    void* mapped = mmap(0, memory[1], PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED) {
      status = -1;
    } else {
      cpu->memory = mapped;
      cpu->memory_address = memory[0];
      cpu->memory_bytes = memory[1];
    }
  }
  if (descriptor >= 0) close(descriptor);
  return status;
}

int weft_external_connect(weft_external* cpu, const char* path) {
  struct sockaddr_un address;
  memset(cpu, 0, sizeof *cpu);
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(address.sun_path, path);
  cpu->socket = socket(AF_UNIX, SOCK_STREAM, 0);
  if (cpu->socket < 0) return -1;
  if (connect(cpu->socket, (const struct sockaddr*)&address, sizeof address) != 0 || greet(cpu) != 0) {
    const int error = errno;
    close(cpu->socket);
    cpu->socket = -1;
    errno = error;
    return -1;
  }
  return 0;
}

int weft_external_read(weft_external* cpu, uint64_t address, void* data, size_t bytes) {
  unsigned char* at = data;
  while (bytes != 0) {
    const uint32_t part = bytes < WEFT_EXTERNAL_MOST_DATA ? (uint32_t)bytes : WEFT_EXTERNAL_MOST_DATA;
    const int status =
        call(cpu, WEFT_EXTERNAL_READ, &address, sizeof address, &part, sizeof part, at, part, 0);
    if (status != 0) return status;
    at += part;
    address += part;
    bytes -= part;
  }
  return 0;
}

int weft_external_write(weft_external* cpu, uint64_t address, const void* data, size_t bytes) {
  const unsigned char* at = data;
  while (bytes != 0) {
    const size_t part = bytes < WEFT_EXTERNAL_MOST_DATA ? bytes : WEFT_EXTERNAL_MOST_DATA;
    const int status = call(cpu, WEFT_EXTERNAL_WRITE, &address, sizeof address, at, part, 0, 0, 0);
    if (status != 0) return status;
    at += part;
    address += part;
    bytes -= part;
  }
  return 0;
}

int weft_external_advance(weft_external* cpu, uint64_t nanoseconds, uint32_t flags) {
  return call(cpu, WEFT_EXTERNAL_ADVANCE, &nanoseconds, sizeof nanoseconds, &flags, sizeof flags, 0, 0, 0);
}

void weft_external_disconnect(weft_external* cpu) {
  if (cpu->memory != 0) munmap(cpu->memory, cpu->memory_bytes);
  if (cpu->socket >= 0) close(cpu->socket);
  cpu->memory = 0;
  cpu->socket = -1;
}
