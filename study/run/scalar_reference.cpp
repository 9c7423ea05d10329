#include "study/run/scalar_reference.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "study/run/processes.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

bool asks_for_scalars(const SessionOptions& options) {
  const auto& checks = options.checks;
  return std::find(checks.begin(), checks.end(), "scalar") != checks.end();
}

// Of what the run would say or leave behind, all is the other run's to do.
SessionOptions without_scalarization(SessionOptions options, std::FILE* record) {
  options.overrides.emplace_back("scalarization.kind=off");
  options.checks = {"memory", "race", "warp"};
  options.check_reports = UINT64_MAX;  // none ends it
  options.records_writes = record;
  options.out.clear();
  options.trace = {};
  options.sample = 0;
  options.monitors = false;
  options.quiet = true;
  options.checkpoint.reset();
  options.resume = false;
  options.more_results = nullptr;
  return options;
}

[[noreturn]] void run_in_child(pid_t parent, const SessionOptions& options,
                               const std::function<ExitCode(const SessionOptions&)>& run) {
  die_with(parent);
  const int nowhere = open("/dev/null", O_RDWR);
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
  ExitCode code = ExitCode::kDone;
  try {
    code = run(options);
  } catch (const std::exception&) {
    // What is wrong with the run, the other one says, too; it finds no more launches in the record.
    code = ExitCode::kFault;
  }
  _exit(static_cast<int>(code));
}

}  // namespace

ScalarReference::ScalarReference(const SessionOptions& options, std::string ptx,
                                 const std::function<ExitCode(const SessionOptions&)>& run)
    : ptx_(std::move(ptx)) {
  if (!asks_for_scalars(options) || options.functional) return;
  const GpuConfig config = config_of(options);
  // Values from the system's memory come later than their instruction is shown.
  if (!config.sm.scalarization.on() || config.carve_out.enabled) return;
  record_ = std::tmpfile();
  if (record_ == nullptr)
    throw InputError("--check scalar",
                     std::string("cannot create a temporary file: ") + std::strerror(errno));
  std::cout.flush();
  const pid_t parent = getpid(), child = fork();
  if (child < 0)
    throw InputError("--check scalar", std::string("cannot create a process: ") + std::strerror(errno));
  if (child == 0) run_in_child(parent, without_scalarization(options, record_), run);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (std::fseek(record_, 0, SEEK_SET) != 0)
    throw InputError("--check scalar",
                     std::string("the temporary file cannot be read: ") + std::strerror(errno));
}

ScalarReference::~ScalarReference() {
  if (record_ != nullptr) std::fclose(record_);
}

SessionOptions ScalarReference::compared(SessionOptions options) const {
  options.compares_writes = record_;
  options.checked_ptx = ptx_;
  return options;
}

}  // namespace weft::study
