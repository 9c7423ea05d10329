#include "common/shared_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>

#include "common/input_file.h"
#include "common/open_file.h"
#include "weft/common/error.h"

namespace weft {
namespace {

template <class T>
bool copy_from(const std::string& bytes, std::uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

[[noreturn]] void refuse_cut(const std::string& path, std::uint64_t needed, std::size_t size) {
  throw InputError(path, "cannot be loaded: the file is cut short: it has " + std::to_string(size) +
                             " bytes, and its ELF segments need " + std::to_string(needed));
}

// The file that the trial's last words go to; a terminate handler has no argument.
int words_of_trial = -1;

void say(const char* text) {
  if (::write(words_of_trial, text, std::strlen(text)) < 0) _exit(1);
}

// Of the exception under way.
void tell_exception() {
  try {
    if (std::current_exception() != nullptr) std::rethrow_exception(std::current_exception());
    say("it calls std::terminate()");
  } catch (const std::exception& error) {
    say("its constructor throws: ");
    say(error.what());
  } catch (...) {
    say("its constructor throws an object that is not a std::exception");
  }
  _exit(1);
}

// What dlopen() itself refuses, it refuses again in this process, with its reason.
[[noreturn]] void load_apart(const std::string& path, int words) {
  words_of_trial = words;
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) {
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, stream);
  }
  std::set_terminate(tell_exception);  // where no frame lets the exception through
  // It is declared as one that throws nothing, so that a plain call of it would be compiled without the
  // handler.
  void* (*const volatile load)(const char*, int) = dlopen;
  try {
    load(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  } catch (...) {
    tell_exception();
  }
  _exit(0);
}

std::string read_all(int pipe) {
  std::string text;
  std::array<char, 256> part{};
  ssize_t got = 0;
  while ((got = ::read(pipe, part.data(), part.size())) > 0 || (got < 0 && errno == EINTR))
    text.append(part.data(), static_cast<std::size_t>(got > 0 ? got : 0));
  return text;
}

}  // namespace

std::string read_shared_object(const std::string& path) {
  std::string bytes = read_regular_file(path);
  Elf64_Ehdr header = {};
  if (!copy_from(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
    return bytes;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment = {};
    const std::uint64_t at = header.e_phoff + i * sizeof segment;
    if (!copy_from(bytes, at, segment)) refuse_cut(path, at + sizeof segment, bytes.size());
    const std::uint64_t end = segment.p_offset + segment.p_filesz;
    if (end < segment.p_offset || end > bytes.size()) refuse_cut(path, end, bytes.size());
  }
  return bytes;
}

void try_shared_object(const std::string& path) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw InputError(path, "cannot be loaded: cannot create a pipe: " + reason_of(errno));
  const Descriptor words(ends[0]);
  const pid_t trial = fork();
  const int reason = errno;
  if (trial == 0) load_apart(path, ends[1]);
  close(ends[1]);
  if (trial < 0) throw InputError(path, "cannot be loaded: cannot create a process: " + reason_of(reason));
  const std::string said = read_all(words.number());
  int status = 0;
  while (waitpid(trial, &status, 0) < 0 && errno == EINTR) {
  }
  if (!said.empty()) throw InputError(path, "cannot be loaded: " + said);
  if (WIFSIGNALED(status)) {
    throw InputError(path, "cannot be loaded: its constructor gets signal " +
                               std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")");
  }
}

}  // namespace weft
