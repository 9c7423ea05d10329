#include "study/session/fst_pipe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "common/output_files.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

constexpr const char* kConverter = "vcd2fst";
constexpr int kPipeBytes = 1 << 20;

// In a process group of its own: an interrupt ends the simulation, and with it what vcd2fst reads.
int start_converter(const std::string& file, int input, pid_t& process) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::string path = file;
  std::array<char, 2> standard_input{"-"};
  std::array<char*, 4> words{const_cast<char*>(kConverter), standard_input.data(), path.data(), nullptr};
  const int problem = posix_spawnp(&process, kConverter, &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return problem;
}

}  // namespace

bool FstPipe::wanted_for(const std::string& file) {
  return std::filesystem::path(file).extension() == ".fst";
}

FstPipe::FstPipe(std::string file) : file_(std::move(file)) {
  check_writable(file_);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw InputError(file_, fmt::format("cannot create a pipe to {}: {}", kConverter, std::strerror(errno)));
  input_ = ends[1];
  // A larger pipe saves changes between the two processes; where it is not allowed, the usual size does.
  fcntl(input_, F_SETPIPE_SZ, kPipeBytes);
  const int problem = start_converter(file_, ends[0], process_);
  close(ends[0]);
  if (problem == 0) return;
  close_input();
  throw InputError(file_, fmt::format("cannot start {}: {}; GTKWave contains the program (./weft packages "
                                      "waveform); a name that does not end in .fst gives a VCD without it",
                                      kConverter, std::strerror(problem)));
}

FstPipe::~FstPipe() {
  close_input();
}

std::string FstPipe::input() const {
  return fmt::format("/dev/fd/{}", input_);
}

void FstPipe::close_input() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

void FstPipe::finish() {
  close_input();
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw InputError(
        file_, fmt::format("{} {} {}", kConverter, WIFEXITED(status) ? "ended with exit code" : "got signal",
                           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)));
  }
  if (!is_whole_fst(file_))
    throw InputError(
        file_,
        fmt::format("is incomplete: {} could not write the whole file (is the disk full?)", kConverter));
}

bool is_whole_fst(const std::string& file) {
  enum : std::uint8_t {
    kHeader = 0,
    kGeometry = 3,
    kHierarchy = 4,
    kHierarchyLz4 = 6,
    kHierarchyLz4Twice = 7
  };
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::uint64_t>(in.tellg());
  if (!in) return false;
  bool header = false, geometry = false, hierarchy = false;
  std::uint64_t at = 0;
  while (at < size) {
    std::array<unsigned char, 9> start{};
    in.seekg(static_cast<std::streamoff>(at));
    if (!in.read(reinterpret_cast<char*>(start.data()), start.size())) return false;
    std::uint64_t length = 0;
    for (std::size_t i = 1; i < start.size(); ++i) length = length << 8U | start[i];
    if (length < 8 || length > size - at - 1) return false;
    header = header || start[0] == kHeader;
    geometry = geometry || start[0] == kGeometry;
    hierarchy =
        hierarchy || start[0] == kHierarchy || start[0] == kHierarchyLz4 || start[0] == kHierarchyLz4Twice;
    at += 1 + length;
  }
  return header && geometry && hierarchy;
}

}  // namespace weft::study
