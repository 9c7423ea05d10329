#include "sm/stages/core.h"

#include "machine/datapath_of.h"
#include "machine/sm_arrays.h"
#include "weft/warp_formation/scheme.h"

namespace weft::sm {

void Domain::learn_concerns(unsigned schedulers) {
  concerned_.assign(unit->contexts().size(), kAll);
  apart_ = unit->keeps_contexts_apart();
  if (!apart_) return;
  for (unsigned c = 0; c < concerned_.size(); ++c) concerned_[c] = Schedulers{1} << (c % schedulers);
}

std::vector<Domain> make_domains(const machine::SmConfig& config, const warp_formation::Config& formation,
                                 unsigned lanes) {
  std::vector<Domain> domains(config.schedulers / config.schedulers_per_domain);
  warp_formation::Geometry geometry = geometry_of(config, formation, lanes);
  geometry.max_issues = Core::kMaxIssues;
  unsigned first_context = 0;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    Domain& domain = domains[d];
    domain.first_scheduler = static_cast<unsigned>(d * config.schedulers_per_domain);
    domain.first_context = first_context;
    domain.unit = warp_formation::create(formation, geometry);
    domain.learn_concerns(static_cast<unsigned>(config.schedulers_per_domain));
    first_context += domain.unit->contexts().size();
  }
  return domains;
}

Core::Core(const std::string& name, unsigned number, const machine::SmConfig& c,
           const warp_formation::Config& f, double megahertz, execute::Synchroniser::Runner& runner,
           SmListener& l)
    : index(number),
      config(c),
      formation(f),
      listener(l),
      barrel(c.dependence == machine::Dependence::kBarrel),
      executor(c, number, megahertz, registers),
      datapath(machine::datapath_of(c)),
      in_turn(datapath->in_turn()),
      forwards(datapath->forwards() && !barrel),
      scalar_unit(datapath->has_scalar_unit()),
      domains(make_domains(c, f, datapath->lanes())),
      spreads_blocks(c.sub_cores() > 1),
      issues_at_once(domains[0].unit->issues_at_once()),
      account(c.schedulers, c.schedulers_per_domain, c.observe.stalled_threads, barrel),
      state(c.max_blocks),
      synchroniser(name, number, executor, state.blocks, runner),
      in_flight(kMaxIssues) {
  if (issues_at_once > 1) datapath->begin_together();
  if (c.issue_alignment) datapath->align(std::max(1u, warp_width() / datapath->lanes()));
}

void Core::reset() {
  abandon();
  account.reset();
  counters = {};
}

void Core::abandon() {
  for (Domain& domain : domains) domain.changing().reset();
  datapath->reset(0);
  state = State(config.max_blocks);
  executor.reset();
  synchroniser.reset();
  copies.reset();
  in_flight.reset();
}

void Core::start_kernel(const execute::Kernel& kernel, const execute::DeviceMemoryView& memory, Cycle first,
                        bool asks_all) {
  state.kernel = &kernel;
  state.reaches_system = memory.system != nullptr;
  executor.start_kernel(kernel, memory);
  synchroniser.start_kernel(kernel);
  copies.start_kernel(kernel.copies, chunks(), kMaxIssues);
  for (Domain& domain : domains) {
    domain.unit->attach(kernel.program, domain);
    domain.forget_waiters(chunks());
    domain.park(domain.is_apart() && datapath->has_one_way_to_memory() && !state.reaches_system, asks_all);
  }
  datapath->reset(first);
  account.start(first);
}

std::uint64_t Core::live_threads() const {
  std::uint64_t threads = 0;
  for (const auto& block : state.blocks) threads += block.live ? block.live_threads : 0;
  return threads;
}

warp_formation::Census Core::census() const {
  warp_formation::Census sum;
  for (const auto& domain : domains) sum += domain.unit->census();
  return sum;
}

}  // namespace weft::sm
