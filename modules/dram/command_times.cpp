#include "dram/command_times.h"

namespace weft::dram {
namespace {

void at_least(Edge& edge, Edge low) {
  edge = std::max(edge, low);
}

}  // namespace

CommandTimes::CommandTimes(const SchedulerConfig& config, unsigned banks)
    : timing_(config.timing),
      gaps_{gaps_of(timing_, false), gaps_of(timing_, true)},
      places_(places_of(config, banks)),
      dual_command_(config.dual_command),
      activate_ahead_(config.activate_cycles - 1),
      state_(banks, config.bank_groups * config.pseudo_channels, config.pseudo_channels),
      bank_activates_(banks, 0) {}

std::vector<CommandTimes::Place> CommandTimes::places_of(const SchedulerConfig& config, unsigned banks) {
  std::vector<Place> places(banks);
  const auto channels = static_cast<unsigned>(config.pseudo_channels);
  const auto groups = static_cast<unsigned>(config.bank_groups);
  for (unsigned bank = 0; bank < banks; ++bank) {
    places[bank].pseudo_channel = static_cast<std::uint8_t>(bank % channels);
    places[bank].group = static_cast<std::uint16_t>(bank % channels * groups + bank / channels % groups);
  }
  return places;
}

CommandTimes::Gaps CommandTimes::gaps_of(const Timing& timing, bool write) {
  Gaps gaps{};
  gaps.data = (write ? timing.wl : timing.cl) + timing.burst_cycles();
  gaps.precharge = write ? gaps.data + timing.wr : timing.rtp;
  gaps.read = write ? timing.write_to_read() : timing.column_gap();
  gaps.write = write ? timing.column_gap() : timing.read_to_write();
  gaps.group_read = write ? timing.write_to_read_same_group() : timing.column_gap_same_group();
  gaps.group_write = timing.column_gap_same_group();
  return gaps;
}

void CommandTimes::reset() {
  state_ = State(state_.banks.size(), state_.groups.size(), state_.channels.size());
}

void CommandTimes::activate(unsigned bank, std::uint64_t row, Edge now) {
  const Edge effect = takes_effect(Command::kActivate, now);
  state_.row_bus = effect + 1;
  Bank& own = state_.banks[bank];
  own.open = true;
  own.row = row;
  own.next[at(Command::kRead)] = effect + timing_.rcd;
  own.next[at(Command::kWrite)] = effect + timing_.activate_to_write();
  own.next[at(Command::kPrecharge)] = effect + timing_.ras;
  own.next[at(Command::kActivate)] = effect + timing_.rc;
  state_.groups[places_[bank].group][at(Command::kActivate)] = effect + timing_.activate_gap_same_group();
  // The fifth activate waits for the end of the window that the first of the last four began.
  PseudoChannel& channel = state_.channels[places_[bank].pseudo_channel];
  channel.windows[channel.oldest] = effect + timing_.faw;
  channel.oldest = (channel.oldest + 1) & 3;
  channel.next[at(Command::kActivate)] = std::max(effect + timing_.rrd, channel.windows[channel.oldest]);
  at_least(state_.rests, own.next[at(Command::kActivate)]);
  ++activates_;
  ++bank_activates_[bank];
}

void CommandTimes::precharge(unsigned bank, Edge now) {
  Bank& own = state_.banks[bank];
  own.open = false;
  at_least(own.next[at(Command::kActivate)], now + timing_.rp);
  at_least(state_.rests, now + timing_.rp);
  ++precharges_;
}

Edge CommandTimes::transfer(unsigned bank, bool write, Edge now) {
  const Gaps& gaps = gaps_[write ? 1 : 0];
  Gates& group = state_.groups[places_[bank].group];
  group[at(Command::kRead)] = now + gaps.group_read;
  group[at(Command::kWrite)] = now + gaps.group_write;
  Gates& channel = state_.channels[places_[bank].pseudo_channel].next;
  at_least(channel[at(Command::kRead)], now + gaps.read);
  at_least(channel[at(Command::kWrite)], now + gaps.write);
  at_least(state_.banks[bank].next[at(Command::kPrecharge)], now + gaps.precharge);
  at_least(state_.rests, std::max(channel[at(Command::kRead)], channel[at(Command::kWrite)]));
  return now + gaps.data;
}

void CommandTimes::close(unsigned bank) {
  Bank& own = state_.banks[bank];
  own.open = false;
  at_least(own.next[at(Command::kActivate)], own.next[at(Command::kPrecharge)] + timing_.rp);
  at_least(state_.rests, own.next[at(Command::kActivate)]);
  ++precharges_;
}

void CommandTimes::occupy(unsigned bank, Edge until) {
  for (const Command command : {Command::kRead, Command::kWrite, Command::kPrecharge})
    at_least(state_.banks[bank].next[at(command)], until);
}

void CommandTimes::close_for_refresh(Bank& bank, Edge due) {
  if (!bank.open) return;
  bank.open = false;
  at_least(bank.next[at(Command::kActivate)], std::max(due, bank.next[at(Command::kPrecharge)]) + timing_.rp);
  ++precharges_;
}

void CommandTimes::refresh(unsigned bank, Edge due) {
  Bank& own = state_.banks[bank];
  close_for_refresh(own, due);
  Edge& activate = own.next[at(Command::kActivate)];
  activate = std::max(due, activate) + timing_.rfcpb;
}

// No command goes out meanwhile.
void CommandTimes::refresh_all(Edge due) {
  Edge start = due;
  for (Bank& bank : state_.banks) {
    close_for_refresh(bank, due);
    at_least(start, bank.next[at(Command::kActivate)]);
  }
  for (Bank& bank : state_.banks) bank.next[at(Command::kActivate)] = start + timing_.rfc;
}

void CommandTimes::bind(statistics::Group& group) {
  group.counter("activates", units::kCommands, "rows opened", activates_);
  group.histogram("bank_activates", units::kCommands, "rows opened, by bank", bank_activates_);
  group.counter("precharges", units::kCommands, "rows closed", precharges_);
}

}  // namespace weft::dram
