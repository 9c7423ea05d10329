// Which rows the banks of a channel have open, and when each bank may get its next commands.
//
// A command waits for its bank, for its bank group and for its pseudo-channel. Each of the three keeps the
// earliest edge of each kind of command. A command that leaves moves these edges by the timings of the
// standard.
//
// An activate of several cycles (activate_cycles) takes effect in its last cycle. The edges here are those at
// which a command takes effect; `leaves` turns them into the edges at which it leaves.
#ifndef WEFT_DRAM_COMMAND_TIMES_H
#define WEFT_DRAM_COMMAND_TIMES_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/dram/dram_config.h"

namespace weft::dram {

using Edge = std::uint64_t;
inline constexpr Edge kNoEdge = ~Edge{0};

// Column commands before row commands.
enum class Command : std::uint8_t { kRead, kWrite, kActivate, kPrecharge };
inline constexpr std::array<Command, 4> kCommands{Command::kRead, Command::kWrite, Command::kActivate,
                                                  Command::kPrecharge};
inline bool is_column(Command command) {
  return command <= Command::kWrite;
}

class CommandTimes {
 public:
  CommandTimes(const SchedulerConfig& config, unsigned banks);

  unsigned banks() const { return static_cast<unsigned>(state_.banks.size()); }
  bool open(unsigned bank) const { return state_.banks[bank].open; }
  std::uint64_t row(unsigned bank) const { return state_.banks[bank].row; }
  bool hits(unsigned bank, std::uint64_t row) const {
    return state_.banks[bank].open && state_.banks[bank].row == row;
  }
  // The next command for a request of this row.
  Command needed(unsigned bank, std::uint64_t row, bool write) const {
    if (!open(bank)) return Command::kActivate;
    if (this->row(bank) != row) return Command::kPrecharge;
    return write ? Command::kWrite : Command::kRead;
  }

  // Earliest effect, as far as the bank itself says; only a command to this bank or a refresh changes it.
  Edge of_bank(unsigned bank, Command command) const { return state_.banks[bank].next[at(command)]; }
  // ... as far as what it shares with other banks says.
  Edge of_shared(unsigned bank, Command command) const {
    return std::max(state_.groups[places_[bank].group][at(command)],
                    state_.channels[places_[bank].pseudo_channel].next[at(command)]);
  }
  // No command of this kind can leave before this edge, whatever its bank.
  Edge floor(Command command) const {
    Edge effect = kNoEdge;
    for (const PseudoChannel& channel : state_.channels) effect = std::min(effect, channel.next[at(command)]);
    const bool shares_row_bus = !dual_command_ || !is_column(command);
    return std::max(leaves(command, effect), shares_row_bus ? state_.row_bus : 0);
  }
  Edge leaves(Command command, Edge effect) const {
    const Edge ahead = takes_effect(command, 0);
    return effect > ahead ? effect - ahead : 0;
  }
  Edge takes_effect(Command command, Edge leaves) const {
    return command == Command::kActivate ? leaves + activate_ahead_ : leaves;
  }

  // A command leaves at edge `now`, for a bank that may get it.
  void activate(unsigned bank, std::uint64_t row, Edge now);
  void precharge(unsigned bank, Edge now);
  // A column command; returns the edge at which its data has moved.
  Edge transfer(unsigned bank, bool write, Edge now);

  // Auto-precharge: as soon as the bank may be precharged, without a command of its own.
  void close(unsigned bank);
  // The bank does nothing else before `until`.
  void occupy(unsigned bank, Edge until);
  // Refreshes that are due at `due`: banks are precharged as soon as each may be, without commands.
  void refresh(unsigned bank, Edge due);
  void refresh_all(Edge due);

  // A row command and a column command can leave in one cycle.
  bool dual_command() const { return dual_command_; }
  // From this edge on no command keeps the channel or a bank from the next one.
  Edge rests() const { return state_.rests; }

  void reset();
  void archive(Archive& archive) { archive(state_); }
  void bind(statistics::Group& group);

 private:
  using Gates = std::array<Edge, kCommands.size()>;  // by Command: the earliest next one
  static constexpr std::size_t at(Command command) { return static_cast<std::size_t>(command); }

  struct Bank {
    std::uint64_t row = 0;
    bool open = false;
    Gates next{};
    void archive(Archive& archive) {
      auto& [row_, open_, next_] = *this;
      archive(row_, open_, next_);
    }
  };
  struct PseudoChannel {
    Gates next{};
    std::array<Edge, 4> windows{};  // ends of the windows that the last four activates have begun
    std::uint8_t oldest = 0;        // of them
    void archive(Archive& archive) {
      auto& [next_, windows_, oldest_] = *this;
      archive(next_, windows_, oldest_);
    }
  };
  struct State {
    State(std::size_t banks, std::size_t groups, std::size_t pseudo_channels)
        : banks(banks), groups(groups), channels(pseudo_channels) {}
    std::vector<Bank> banks;
    std::vector<Gates> groups;  // bank groups of all pseudo-channels
    std::vector<PseudoChannel> channels;
    Edge row_bus = 0;  // an activate has the bus for row commands before this edge
    Edge rests = 0;
    void archive(Archive& archive) {
      auto& [banks_, groups_, channels_, row_bus_, rests_] = *this;
      archive(banks_, groups_, channels_, row_bus_, rests_);
    }
  };
  struct Place {  // of a bank
    std::uint8_t pseudo_channel = 0;
    std::uint16_t group = 0;  // among those of all pseudo-channels
  };
  // From a column command to what follows it.
  struct Gaps {
    Edge data, precharge;
    Edge read, write;              // of the pseudo-channel
    Edge group_read, group_write;  // of the bank group
  };
  static std::vector<Place> places_of(const SchedulerConfig& config, unsigned banks);
  static Gaps gaps_of(const Timing& timing, bool write);
  void close_for_refresh(Bank& bank, Edge due);

  const Timing timing_;
  const std::array<Gaps, 2> gaps_;  // of a read, of a write
  const std::vector<Place> places_;
  const bool dual_command_;
  const Edge activate_ahead_;
  State state_;

  std::uint64_t activates_ = 0;
  std::vector<std::uint64_t> bank_activates_;  // by bank
  std::uint64_t precharges_ = 0;
};

}  // namespace weft::dram

#endif
