#include "runtime/cuda/core/stand_in.h"

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <utility>

namespace weft::cuda {
namespace {

constexpr std::chrono::milliseconds kLook{10};

double cpu_ms() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) * 1e-6;
}

// Whether a thread sleeps, as proc(5) has it: the letter behind the name in parentheses.
bool sleeps(const char* thread) {
  const std::string path = std::string("/proc/self/task/") + thread + "/stat";
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return true;  // it has ended
  char text[256];
  text[std::fread(text, 1, sizeof text - 1, file)] = '\0';
  std::fclose(file);
  const char* const name_end = std::strrchr(text, ')');
  return name_end != nullptr && name_end[1] == ' ' && name_end[2] == 'S';
}

// Whether all threads sleep but the one that asks.
bool all_sleep() {
  DIR* const threads = opendir("/proc/self/task");
  if (threads == nullptr) return false;
  const pid_t own = gettid();
  bool all = true;
  while (const dirent* entry = readdir(threads)) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
    const long number = std::strtol(entry->d_name, nullptr, 10);
    if (number != 0 && number != own) all = all && sleeps(entry->d_name);
  }
  closedir(threads);
  return all;
}

}  // namespace

StandIn::StandIn(std::uint64_t patience_ms, Act act)
    : patience_ms_(static_cast<double>(patience_ms)), act_(std::move(act)) {
  // The thread takes no signals: they are the program's.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([this] { watch(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void StandIn::arm(bool armed) {
  if (armed_.load(std::memory_order_relaxed) == armed) return;
  const std::lock_guard lock(mutex_);
  armed_ = armed;
  if (armed) wake_.notify_one();
}

void StandIn::watch() {
  std::uint64_t seen = 0;
  double used = 0, waited = 0;  // CPU time at the last look; what counts as waiting
  const auto begin = [&](std::uint64_t calls) {
    seen = calls;
    used = cpu_ms();
    waited = 0;
  };
  for (;;) {
    if (!armed_) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return armed_.load(); });
      begin(calls());
    }
    std::this_thread::sleep_for(kLook);
    if (calls() != seen) {
      begin(calls());
      continue;
    }
    const double now = cpu_ms();
    waited += now - used;
    used = now;
    if (all_sleep()) waited += static_cast<double>(kLook.count());
    if (waited < patience_ms_) continue;
    act_(seen);
    begin(calls());
  }
}

}  // namespace weft::cuda
