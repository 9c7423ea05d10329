// Which statistics are events that take energy.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/operation.h"
#include "energy/event_energy.h"

namespace weft::energy {
namespace {

using Steps = Event::Steps;
using statistics::Group;
using statistics::Path;
using statistics::Sample;

// Calls take(path) with the steps as a path.
template <class Take>
auto with_path(const Steps& steps, Take&& take) {
  const auto at = [&](std::size_t i) { return statistics::Step(std::string_view(steps[i])); };
  switch (steps.size()) {
    case 1:
      return take(Path{at(0)});
    case 2:
      return take(Path{at(0), at(1)});
    case 3:
      return take(Path{at(0), at(1), at(2)});
    case 4:
      return take(Path{at(0), at(1), at(2), at(3)});
    default:
      return take(Path{at(0), at(1), at(2), at(3), at(4)});
  }
}

std::vector<Event> plain_events() {
  std::vector<Event> all;
  const auto add = [&](bool of_sm, Component component, std::string name, std::vector<Steps> counters) {
    all.push_back({std::move(name), component, of_sm, std::move(counters), 0});
  };
  const auto sm = [&](Component component, const char* name, std::vector<Steps> counters) {
    add(true, component, name, std::move(counters));
  };
  const auto side = [&](Component component, const char* name, std::vector<Steps> counters) {
    add(false, component, name, std::move(counters));
  };
  for (const char* operation : kOperationNames)
    add(true, Component::kLanes, std::string("operation.") + operation,
        {{"events", "operations", operation}});
  sm(Component::kLanes, "operation.idle_lane", {{"events", "idle_lanes"}});
  sm(Component::kRegisters, "register_read", {{"events", "vector_registers", "rows_read"}});
  sm(Component::kRegisters, "register_write", {{"events", "vector_registers", "rows_written"}});
  sm(Component::kRegisters, "register_crossbar", {{"events", "vector_registers", "rows_read"}});
  sm(Component::kRegisters, "operand_collector", {{"events", "vector_registers", "rows_read"}});
  sm(Component::kRegisters, "scalar_register_read", {{"events", "scalar_registers", "words_read"}});
  sm(Component::kRegisters, "scalar_register_write", {{"events", "scalar_registers", "words_written"}});
  sm(Component::kFrontEnd, "issue", {{"warp_instructions"}});
  sm(Component::kFrontEnd, "instruction_buffer_read", {{"warp_instructions"}});
  sm(Component::kFrontEnd, "instruction_buffer_write", {{"front_end", "fetches"}});
  sm(Component::kFrontEnd, "l1i_read", {{"front_end", "l1i", "accesses"}});
  sm(Component::kFrontEnd, "l1i_fill", {{"front_end", "l1i", "mshr", "allocated"}});
  sm(Component::kSharedMemory, "shared_read", {{"events", "shared_memory", "words_read"}});
  sm(Component::kSharedMemory, "shared_write", {{"events", "shared_memory", "words_written"}});
  sm(Component::kLoadStore, "coalescer", {{"memory", "memory_thread_instructions"}});
  sm(Component::kL1, "l1d_tags",
     {{"memory", "l1d", "accesses"}, {"memory", "write_requests"}, {"memory", "atomic_requests"}});
  sm(Component::kL1, "l1d_read_hit", {{"memory", "l1d", "hits"}, {"memory", "write_backs"}});
  sm(Component::kL1, "l1d_fill", {{"memory", "l1d", "mshr", "allocated"}});
  sm(Component::kL1, "l1d_write_absorbed", {{"memory", "stores_absorbed"}});
  sm(Component::kL1, "l1d_write_hit", {{"memory", "store_hits"}});
  sm(Component::kL1, "l1c_read", {{"memory", "l1c", "accesses"}});
  sm(Component::kL1, "l1c_fill", {{"memory", "l1c", "mshr", "allocated"}});
  sm(Component::kL1, "l1t_read", {{"memory", "l1t", "accesses"}});
  sm(Component::kL1, "l1t_fill", {{"memory", "l1t", "mshr", "allocated"}});
  sm(Component::kClock, "sm_clock", {{"scheduler", "held_cycles"}});
  side(Component::kNetwork, "flit",
       {{"crossbar", "port", "request_flits"}, {"crossbar", "port", "response_flits"}});
  side(Component::kL2, "l2_tags", {{"l2", "tags", "accesses"}});
  side(Component::kL2, "l2_read", {{"l2", "reads"}, {"l2", "atomics"}});
  side(Component::kL2, "l2_write", {{"l2", "writes"}, {"l2", "atomics"}});
  side(Component::kL2, "l2_fill", {{"l2", "fetches"}, {"l2", "write_backs"}});
  side(Component::kDram, "dram_activate", {{"dram", "activates"}});
  side(Component::kDram, "dram_read_byte", {{"dram", "bytes_read"}});
  side(Component::kDram, "dram_write_byte", {{"dram", "bytes_written"}});
  side(Component::kDram, "dram_refresh", {{"dram", "refreshes"}});
  side(Component::kDram, "dram_standby", {{"gpu", kCycles}});
  side(Component::kClock, "chip_clock", {{"gpu", kCycles}});
  side(Component::kLeakage, "leakage", {{"gpu", kCycles}});
  return all;
}

void add_tables(Events& events) {
  for (std::size_t i = 0; i < events.tables.size(); ++i) {
    for (const char* use : {"reads", "writes", "searches"}) {
      const std::string& table = events.tables[i].name;
      events.all.push_back({"table." + table + "." + use,
                            Component::kScheme,
                            true,
                            {{"warp_formation", "tables", table, use}},
                            i});
    }
  }
}

Steps below(const char* first, const Steps& rest) {
  Steps steps{first};
  steps.insert(steps.end(), rest.begin(), rest.end());
  return steps;
}

// Parts that the machine has not, such as an L2, have no counters either.
template <class Has>
void keep_what_is_there(Events& events, Has&& has) {
  for (Event& event : events.all) {
    auto& counters = event.counters;
    counters.erase(std::remove_if(counters.begin(), counters.end(),
                                  [&](const Steps& steps) { return !has(event, steps); }),
                   counters.end());
  }
  events.all.erase(std::remove_if(events.all.begin(), events.all.end(),
                                  [](const Event& event) { return event.counters.empty(); }),
                   events.all.end());
}

}  // namespace

Events Events::of(const Group& root) {
  Events events;
  const auto sms = root.groups({"sm"});
  if (sms.empty() || sms.front()->groups({"events"}).empty()) return events;
  events.all = plain_events();
  const auto tables = sms.front()->groups({{"warp_formation", 0}, "tables"});
  if (!tables.empty()) {
    for (const auto& node : tables.front()->nodes()) {
      if (node.group == nullptr) continue;
      SchemeTable table{node.group->name(), 0, 0};
      for (const auto& inner : node.group->nodes()) {
        if (inner.entry != nullptr && inner.entry->name == "rows") table.rows = inner.entry->value();
        if (inner.entry != nullptr && inner.entry->name == "row_bits") table.row_bits = inner.entry->value();
      }
      events.tables.push_back(std::move(table));
    }
  }
  add_tables(events);
  keep_what_is_there(events, [&](const Event& event, const Steps& steps) {
    return with_path(event.of_sm ? below("sm", steps) : steps,
                     [&](Path path) { return !root.find(path).empty(); });
  });
  return events;
}

Events Events::of(const Sample& sample) {
  Events events;
  if (!sample.has({{"sm", 0}, "events"})) return events;
  events.all = plain_events();
  const auto tables = sample.find({{"sm", 0}, {"warp_formation", 0}, "tables"});
  if (!tables.empty()) {
    for (const auto& [name, table] : tables.front()->items())
      events.tables.push_back({name, table.at("rows").get<double>(), table.at("row_bits").get<double>()});
  }
  add_tables(events);
  keep_what_is_there(events, [&](const Event& event, const Steps& steps) {
    return with_path(event.of_sm ? below("sm", steps) : steps, [&](Path path) { return sample.has(path); });
  });
  return events;
}

bool counts_cycles(const Event& event) {
  return !event.of_sm && event.counters.front().back() == kCycles;
}

statistics::Sum sum_of(const Group& group, const Event& event) {
  statistics::Sum sum;
  for (const Steps& steps : event.counters)
    sum += with_path(steps, [&](Path path) { return group.sum(path); });
  return sum;
}

Energy energy_of(const Sample& sample, const Events& events, const std::vector<Price>& prices,
                 const Machine& machine) {
  Energy energy;
  energy.seconds = sample.sum({"gpu", kCycles}) / (machine.core_mhz * 1e6);
  for (std::size_t i = 0; i < events.all.size(); ++i) {
    const Event& event = events.all[i];
    double count = 0;
    for (const Steps& steps : event.counters) {
      count +=
          with_path(event.of_sm ? below("sm", steps) : steps, [&](Path path) { return sample.sum(path); });
    }
    energy.parts.push_back({event.name, event.component, count, prices[i]});
  }
  return energy;
}

}  // namespace weft::energy
