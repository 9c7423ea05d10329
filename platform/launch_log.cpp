#include "platform/launch_log.h"

#include <algorithm>
#include <sstream>

#include "common/csv.h"

namespace weft {

using dispatch::LaunchOutcome;

namespace {

const char* text_of(LaunchOutcome::End end) {
  switch (end) {
    case LaunchOutcome::End::kDone:
      return "done";
    case LaunchOutcome::End::kFaulted:
      return "faulted";
    case LaunchOutcome::End::kStopped:
      break;
  }
  return "stopped";
}

std::string text_of(const dispatch::Dim3& size) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

}  // namespace

LaunchLog::LaunchLog(const statistics::Group& root, const Machine& machine, EnergyColumns* energy,
                     std::size_t most_rows)
    : machine_(machine), most_rows_(most_rows), energy_(energy) {
  for (const statistics::Group* sm : root.groups({"sm"})) {
    PerSm& of = sms_.emplace_back();
    of.columns = sm_columns({sm});
    sm_events_ = of.columns.size();
    if (energy_ != nullptr) {
      for (auto& column : energy_->of_sm(*sm)) of.columns.push_back(std::move(column));
    }
    of.before = statistics::Snapshot(of.columns.size());
    of.before.take(of.columns);
  }
  now_ = statistics::Snapshot(sms_[0].columns.size());
  for (const char* const counter : {"data_cycles", "active_cycles"}) {
    if (!root.groups({"dram"}).empty())
      memory_columns_.push_back({std::string("dram_") + counter, root.sum({"dram", counter})});
  }
  memory_before_ = memory_now_ = statistics::Snapshot(memory_columns_.size());
  if (energy_ != nullptr) chip_columns_ = energy_->of_chip();
  chip_before_ = chip_now_ = statistics::Snapshot(chip_columns_.size());
}

void LaunchLog::Row::Code::add(const ptx::Program& program) {
  instructions += program.code.size();
  scalar_instructions += static_cast<std::uint64_t>(
      std::count_if(program.code.begin(), program.code.end(), [](const auto& i) { return i.scalar; }));
  registers += program.registers_per_thread;
  scalars += program.scalars_per_warp;
  unscalarized_registers +=
      program.unscalarized_registers != 0 ? program.unscalarized_registers : program.registers_per_thread;
}

void LaunchLog::Row::Code::archive(Archive& archive) {
  archive(instructions, scalar_instructions, registers, scalars, unscalarized_registers);
}

void LaunchLog::begun(Number number, const dispatch::Launch& launch, Cycle first_cycle) {
  if (rows_.size() <= most_rows_) {
    Row& row = rows_.emplace_back();
    row.values = statistics::Snapshot(now_.size());
    row.memory = statistics::Snapshot(memory_columns_.size());
    row.chip = statistics::Snapshot(chip_columns_.size());
    row.kernel = launch.program->name;
    row.queue = launch.queue;
    row.grid = launch.grid;
    row.block = launch.block;
    row.first_cycle = first_cycle;
  } else {
    ++rows_.back().launches;
    rows_.back().end = "running";
  }
  rows_.back().code.add(*launch.program);
  if (running_.empty()) memory_before_.take(memory_columns_);
  const std::size_t interfaces = (sms_.size() + machine_.sms_per_interface - 1) / machine_.sms_per_interface;
  running_.push_back({number, &rows_.back(), first_cycle, std::vector<Running::Blocks>(interfaces)});
  if (running_.size() == 1) return;
  for (const Running& running : running_) running.row->overlapped = true;
}

LaunchLog::Running& LaunchLog::running(Number number) {
  return *std::find_if(running_.begin(), running_.end(),
                       [&](const Running& launch) { return launch.number == number; });
}

void LaunchLog::block(unsigned sm, Number number, bool came, Cycle now) {
  Running& launch = running(number);
  const std::size_t interface = sm / machine_.sms_per_interface;
  Running::Blocks& blocks = launch.blocks[interface];
  if (came) {
    if (blocks.count++ == 0) blocks.since = now;
  } else if (--blocks.count == 0) {
    close(launch, interface, now);
  }
}

// No block of the launch is left behind the interface.
void LaunchLog::close(Running& launch, std::size_t interface, Cycle now) {
  const std::uint64_t first = interface * machine_.sms_per_interface;
  const std::uint64_t sms = std::min<std::uint64_t>(machine_.sms_per_interface, sms_.size() - first);
  launch.row->interface_sm_cycles += (now - launch.blocks[interface].since) * sms;
}

// Gives what the SM has counted to the launch that it holds.
void LaunchLog::settle(PerSm& sm) {
  if (sm.holder == nullptr) return;
  now_.take(sm.columns);
  sm.holder->values += now_;
  sm.holder->values -= sm.before;
  sm.before = now_;
}

void LaunchLog::assigned(unsigned sm, Number number) {
  settle(sms_[sm]);
  sms_[sm].holder = running(number).row;
}

void LaunchLog::ended(Number number, const LaunchOutcome& outcome) {
  Running& launch = running(number);
  for (std::size_t i = 0; i < launch.blocks.size(); ++i) {
    if (launch.blocks[i].count != 0) close(launch, i, outcome.last_cycle);  // it did not end by itself
  }
  Row& row = *launch.row;
  running_.erase(running_.begin() + (&launch - running_.data()));
  row.last_cycle = outcome.last_cycle;
  row.cycles += outcome.cycles();
  charge_memory(row);
  charge_chip(row);
  row.end = text_of(outcome.end);
}

// What memory did while launches ran; of launches that overlap, the first to end is charged with all by then.
void LaunchLog::charge_memory(Row& row) {
  memory_now_.take(memory_columns_);
  row.memory += memory_now_;
  row.memory -= memory_before_;
  memory_before_ = memory_now_;
}

// The same, and what was done since a launch ended before.
void LaunchLog::charge_chip(Row& row) {
  if (energy_ == nullptr) return;
  chip_now_.take(chip_columns_);
  row.chip += chip_now_;
  row.chip -= chip_before_;
  chip_before_ = chip_now_;
  const Cycle from = std::max(charged_until_, row.first_cycle - 1);
  if (row.last_cycle <= from) return;
  row.chip_cycles += row.last_cycle - from;
  charged_until_ = row.last_cycle;
}

void LaunchLog::Row::archive(Archive& archive) {
  auto& [name, in_queue, of_blocks, of_threads, first, last, all, how, others, interfaces, count, program,
         counted, of_memory, of_chip, its_cycles] = *this;
  archive(name, in_queue, of_blocks, of_threads, first, last, all, how, others, interfaces, count, program,
          counted, of_memory, of_chip, its_cycles);
}

void LaunchLog::archive(Archive& archive) {
  archive(at_rest(running_), rows_, memory_before_, chip_before_, charged_until_);
  for (PerSm& sm : sms_) {
    std::uint64_t holder = rows_.size();  // none
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (sm.holder == &rows_[i]) holder = i;
    }
    archive(sm.before, holder);
    if (!archive.writes()) sm.holder = holder < rows_.size() ? &rows_[holder] : nullptr;
  }
}

void LaunchLog::forget() {
  settle_all();
  for (const Running& running : running_) running.row->end = "reset";
  running_.clear();
}

void LaunchLog::reset() {
  memory_before_.clear();
  chip_before_.clear();
  charged_until_ = 0;
  for (PerSm& sm : sms_) {
    sm.before.clear();
    sm.holder = nullptr;
  }
}

// What memory did after the last launch, for it.
void LaunchLog::settle_all() {
  for (PerSm& sm : sms_) settle(sm);
  if (!rows_.empty()) charge_chip(running_.empty() ? rows_.back() : *running_.front().row);
}

void LaunchLog::write_energy(std::ostream& out, const Row& row) const {
  EnergyColumns::ByComponent sm{};
  energy_->add_sm(row.values.values().data() + sm_events_, sm);
  EnergyColumns::ByComponent all = sm;
  energy_->add_chip(row.chip.values().data(), row.chip_cycles, all);
  const double picojoules = total(all);
  const std::streamsize digits = out.precision(12);
  out << picojoules * 1e-3 << "," << total(sm) * 1e-3 << ","
      << all[static_cast<std::size_t>(energy::Component::kDram)] * 1e-3 << ","
      << (row.cycles == 0 ? 0 : picojoules * 1e-6 * energy_->core_mhz() / static_cast<double>(row.cycles))
      << ",";
  out.precision(digits);
}

std::string LaunchLog::csv() {
  settle_all();
  if (energy_ != nullptr) energy_->price();
  const SmShares shares(sms_[0].columns);
  std::ostringstream out;
  out << "launch,kernel,queue,grid,block,first_cycle,last_cycle,cycles,end,overlapped,"
      << "sm_cycles,interface_sm_cycles,thread_places,launches,code_instructions,code_scalar_instructions,"
      << "code_registers,code_scalars,code_unscalarized_registers,code_warp_words,code_unscalarized_words,"
      << (energy_ != nullptr ? "energy_nj,sm_energy_nj,dram_energy_nj,power_w," : "") << shares.names();
  for (const statistics::Column& column : sms_[0].columns) out << "," << column.name;
  for (const auto* columns : {&memory_columns_, &chip_columns_}) {
    for (const statistics::Column& column : *columns) out << "," << column.name;
  }
  const std::vector<std::string> of_cycles =
      energy_ != nullptr ? energy_->of_cycles() : std::vector<std::string>();
  for (const std::string& name : of_cycles) out << "," << name;
  out << "\n";
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const SmValues values(row.values);
    const std::string kernel =
        row.launches == 1 ? row.kernel : "(" + std::to_string(row.launches) + " more launches)";
    out << i << "," << as_cell(kernel) << "," << row.queue << "," << text_of(row.grid) << ","
        << text_of(row.block) << "," << row.first_cycle << "," << row.last_cycle << "," << row.cycles << ","
        << row.end << "," << (row.overlapped ? 1 : 0) << ","
        << values.scheduler_cycles() / machine_.schedulers << "," << row.interface_sm_cycles << ","
        << values.thread_places(machine_.beats) << "," << row.launches << "," << row.code.instructions << ","
        << row.code.scalar_instructions << "," << row.code.registers << "," << row.code.scalars << ","
        << row.code.unscalarized_registers << "," << 32 * row.code.registers + row.code.scalars << ","
        << 32 * row.code.unscalarized_registers << ",";
    if (energy_ != nullptr) write_energy(out, row);
    shares.write(out, values, row.cycles, machine_.beats);
    for (const std::uint64_t value : row.values.values()) out << "," << value;
    for (const auto* values_of : {&row.memory, &row.chip}) {
      for (const std::uint64_t value : values_of->values()) out << "," << value;
    }
    for (std::size_t c = 0; c < of_cycles.size(); ++c) out << "," << row.chip_cycles;
    out << "\n";
  }
  return out.str();
}

}  // namespace weft
