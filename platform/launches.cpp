#include "platform/launches.h"

#include <algorithm>
#include <utility>

#include "bus/picoseconds.h"

namespace weft {

using dispatch::LaunchOutcome;

Launches::Launches(const GpuConfig& config, ClockDomain& core, std::deque<sm::Sm>& sms, Hooks hooks)
    : config_(config),
      core_(core),
      sms_(sms),
      dispatcher_(core, targets(sms), config.launch.latency),
      hooks_(std::move(hooks)),
      held_(sms.size()) {
  dispatcher_.set_hooks({[this] { return queue_.ready() && (!active() || hooks_.may_overlap()); },
                         [this](Cycle now) { begin(now); },
                         [this](unsigned sm, Number number, Cycle now) { assign(sm, number, now); },
                         [this](Number number, Cycle now) { finished(number, now); },
                         [this](unsigned sm, Number number, bool came) {
                           if (log_ != nullptr) log_->block(sm, number, came, core_.current_edge());
                         }});
}

std::vector<dispatch::BlockTarget*> Launches::targets(std::deque<sm::Sm>& sms) {
  std::vector<dispatch::BlockTarget*> list;
  list.reserve(sms.size());
  for (auto& sm : sms) list.push_back(&sm);
  return list;
}

void Launches::push(std::shared_ptr<const execute::Kernel> kernel) {
  const std::uint32_t queue = kernel->launch.queue;
  queue_.push(queue, std::move(kernel));
  dispatcher_.poke();
}

void Launches::begin(Cycle now) {
  const bool alone = running_.empty();
  Running launch;
  launch.number = next_number_++;
  ++begun_;
  launch.kernel = queue_.take();
  launch.first_cycle = now + 1;
  if (alone) active_since_ = now + 1;
  running_.push_back(launch);
  name_kernels();
  if (log_ != nullptr) log_->begun(launch.number, launch.kernel->launch, launch.first_cycle);
  dispatcher_.start(launch.number, launch.kernel->launch.grid);
  hooks_.begun(*launch.kernel, now, alone);
}

void Launches::assign(unsigned sm, Number number, Cycle now) {
  const auto launch =
      std::find_if(running_.begin(), running_.end(), [&](const Running& r) { return r.number == number; });
  const dispatch::Launch& wanted = launch->kernel->launch;
  const auto offset = [base = config_.sm.addresses.device_base](std::uint64_t address) {
    return address < base ? 0 : address - base;
  };
  sms_[sm].finish_kernel(now);
  if (log_ != nullptr) log_->assigned(sm, number);
  held_[sm] = launch->kernel;
  sms_[sm].start_kernel(*held_[sm], hooks_.view(*held_[sm]), offset(wanted.code_address),
                        offset(wanted.parameter_address), now + 1);
}

void Launches::finished(Number number, Cycle now) {
  const auto launch =
      std::find_if(running_.begin(), running_.end(), [&](const Running& r) { return r.number == number; });
  const Running done = std::move(*launch);
  running_.erase(launch);
  name_kernels();
  queue_.finished(done.kernel->launch.queue);
  if (running_.empty()) {
    for (auto& sm : sms_) sm.finish_kernel(now);
    past_cycles_ += now + 1 - active_since_;
  }
  LaunchOutcome outcome = outcome_of(done, now);
  if (done.fault) outcome.end = LaunchOutcome::End::kFaulted;
  outcome.fault = done.fault;
  if (log_ != nullptr) log_->ended(number, outcome);
  hooks_.left(*done.kernel, now);
  if (done.kernel->launch.done) done.kernel->launch.done(outcome);
  if (idle()) hooks_.ended();
  if (running_.empty()) hooks_.rests();
}

// The kernels that SMs held are gone: the next launch, which is alone, gets all SMs.
void Launches::archive(Archive& archive) {
  archive(at_rest(running_), dispatcher_, active_since_, next_number_, past_cycles_);
}

void Launches::name_kernels() {
  names_.clear();
  for (const Running& launch : running_) {
    names_ += (names_.empty() ? "" : " + ") + launch.kernel->program.name;
  }
}

LaunchOutcome Launches::outcome_of(const Running& launch, Cycle now) const {
  LaunchOutcome outcome;
  outcome.began = true;
  outcome.first_cycle = launch.first_cycle;
  outcome.last_cycle = std::max(now, launch.first_cycle);
  outcome.begin_ps = picoseconds(core_.time_of(outcome.first_cycle));
  outcome.end_ps = picoseconds(core_.time_of(outcome.last_cycle));
  return outcome;
}

bool Launches::end_contained(const Fault& fault, unsigned guilty) {
  const auto launch = std::find_if(running_.begin(), running_.end(),
                                   [&](const Running& r) { return r.kernel == held_[guilty]; });
  if (launch == running_.end() || !launch->kernel->launch.contained) return false;
  end(*launch, fault);
  return true;
}

bool Launches::end_contained(const Fault& fault) {
  const bool contained = std::all_of(running_.begin(), running_.end(),
                                     [](const Running& r) { return r.kernel->launch.contained; });
  if (!contained) return false;
  for (Running& launch : running_) end(launch, fault);
  return true;
}

// Its SMs may report further faults until they have drained.
void Launches::end(Running& launch, const Fault& fault) {
  if (launch.fault) return;
  launch.fault = fault;
  for (std::size_t i = 0; i < sms_.size(); ++i) {
    if (held_[i] == launch.kernel) sms_[i].abandon_kernel();
  }
  dispatcher_.abandon(launch.number);
}

void Launches::stop(const Fault& fault, unsigned guilty) {
  const std::vector<Running> running = std::exchange(running_, {});
  const auto waiting = queue_.clear();
  const Cycle now = core_.current_edge();
  if (active()) {
    past_cycles_ += now >= active_since_ ? now + 1 - active_since_ : 0;
    for (auto& sm : sms_) sm.finish_kernel(now);
    dispatcher_.reset();
  }
  for (const Running& launch : running) {
    LaunchOutcome outcome = outcome_of(launch, now);
    const bool of_this = guilty != kNoSm && held_[guilty] == launch.kernel;
    outcome.end = of_this ? LaunchOutcome::End::kFaulted : LaunchOutcome::End::kStopped;
    outcome.fault = fault;
    if (log_ != nullptr) log_->ended(launch.number, outcome);
    hooks_.left(*launch.kernel, now);
    if (launch.kernel->launch.done) launch.kernel->launch.done(outcome);
  }
  for (const auto& kernel : waiting) {
    if (!kernel->launch.done) continue;
    LaunchOutcome outcome;
    outcome.end = LaunchOutcome::End::kStopped;
    outcome.fault = fault;
    kernel->launch.done(outcome);
  }
}

void Launches::reset() {
  queue_.clear();
  running_.clear();
  dispatcher_.reset();
  std::fill(held_.begin(), held_.end(), nullptr);
  names_.clear();
  past_cycles_ = begun_ = 0;
}

}  // namespace weft
