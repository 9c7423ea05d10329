#include "platform/sampler.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>

namespace weft {

using statistics::Entry;
using statistics::Group;

Sampler::Sampler(Parts parts, Cycle interval, std::size_t most_rows)
    : parts_(std::move(parts)), index_(parts_.core.add(*this)), most_rows_(most_rows), interval_(interval) {
  for (const Group* sm : parts_.root.groups({"sm"})) {
    PerSm& of = sms_.emplace_back();
    of.columns = sm_columns({sm});
    sm_events_ = of.columns.size();
    if (has_chip()) {
      for (auto& column : parts_.energy->of_sm(*sm)) of.columns.push_back(std::move(column));
    }
    of.gauges = gauges_of(*sm);
    of.before = statistics::Snapshot(of.columns.size());
    of.before.take(of.columns);
  }
  now_ = delta_ = statistics::Snapshot(sms_[0].columns.size());
  width_ = kFirstColumn + sms_[0].columns.size() + sms_[0].gauges.size();
  if (has_chip()) {
    chip_columns_ = parts_.energy->of_chip();
    chip_before_.assign(1 + chip_columns_.size(), 0);
  }
  row_.reserve(width_);
}

std::vector<Sampler::Gauge> Sampler::gauges_of(const Group& sm) {
  std::vector<Gauge> gauges;
  sm.each([&](const std::vector<const Group*>& way, const Entry& entry) {
    if (entry.kind != Entry::Kind::kGauge) return;
    std::string name;
    for (const Group* group : way) name += group->kind() + ".";
    name += entry.name;
    const auto known =
        std::find_if(gauges.begin(), gauges.end(), [&](const Gauge& gauge) { return gauge.name == name; });
    if (known == gauges.end()) {
      gauges.push_back({name, {&entry}});
    } else {
      known->entries.push_back(&entry);
    }
  });
  return gauges;
}

// Launches begin to count at the edge after `now`. What the last ones left open belongs to its own interval.
void Sampler::begun(Cycle now) {
  if (open_ && interval_of(now + 1) != current_) record();
  open(now + 1);
  parts_.core.wake_at(index_, wanted_);
}

Cycle Sampler::step(Cycle now) {
  if (now < wanted_) return wanted_;
  wanted_ = kNever;
  if (!open_) return kNever;
  for (auto& sm : parts_.sms) sm.settle(now + 1);
  record();
  if (parts_.active()) open(now + 1);
  return wanted_;
}

void Sampler::open(Cycle edge) {
  open_ = true;
  current_ = interval_of(edge);
  wanted_ = (current_ + 1) * interval_;
}

void Sampler::finish() {
  if (!open_) {
    if (has_chip()) record_chip();  // what memory did after the last launch
    return;
  }
  record();
  if (!parts_.active()) return;
  open(parts_.core.next_edge());
  parts_.core.wake_at(index_, wanted_);
}

void Sampler::reset() {
  for (PerSm& sm : sms_) sm.before.clear();
  std::fill(chip_before_.begin(), chip_before_.end(), 0);
  open_ = false;
  wanted_ = kNever;
}

void Sampler::archive(Archive& archive) {
  archive(interval_, cells_, current_, open_, wanted_, chip_before_);
  for (PerSm& sm : sms_) archive(sm.before);
}

// Closes the interval, which is not the same any more where there are too many rows.
void Sampler::record() {
  for (unsigned sm = 0; sm < sms_.size(); ++sm) record(sm);
  if (has_chip()) record_chip();
  open_ = false;
  while (rows() > most_rows_) merge_pairs();
}

void Sampler::record(unsigned sm) {
  PerSm& of = sms_[sm];
  now_.take(of.columns);
  delta_ = now_;
  delta_ -= of.before;
  of.before = now_;
  const auto& counted = delta_.values();
  if (std::all_of(counted.begin(), counted.end(), [](std::uint64_t value) { return value == 0; })) return;
  row_.assign({current_, sm});
  row_.insert(row_.end(), counted.begin(), counted.end());
  for (const Gauge& gauge : of.gauges) {
    std::uint64_t sum = 0;
    for (const Entry* entry : gauge.entries) sum += entry->gauge();
    row_.push_back(sum);
  }
  add(row_);
}

// As wide as the others, which have more columns.
void Sampler::record_chip() {
  row_.assign({current_, chip(), parts_.cycles() - chip_before_[0]});
  chip_before_[0] += row_.back();
  for (std::size_t i = 0; i < chip_columns_.size(); ++i) {
    const std::uint64_t value = chip_columns_[i].sum.value();
    row_.push_back(value - chip_before_[1 + i]);
    chip_before_[1 + i] = value;
  }
  const bool any =
      std::any_of(row_.begin() + kFirstColumn, row_.end(), [](std::uint64_t v) { return v != 0; });
  row_.resize(width_, 0);
  if (any) add(row_);
}

// An interval may be recorded in parts. The gauges are those of its end.
void Sampler::add(const std::vector<std::uint64_t>& row) {
  const std::size_t columns = sms_[0].columns.size();
  const std::size_t near = std::min(rows(), sms_.size() + (has_chip() ? 1 : 0));
  for (std::size_t back = 1; back <= near; ++back) {
    std::uint64_t* const there = cells_.data() + cells_.size() - back * width_;
    if (there[kInterval] != row[kInterval] || there[kSm] != row[kSm]) continue;
    for (std::size_t c = kFirstColumn; c < width_; ++c)
      there[c] = row[c] + (c < kFirstColumn + columns ? there[c] : 0);
    return;
  }
  cells_.insert(cells_.end(), row.begin(), row.end());
}

void Sampler::merge_pairs() {
  interval_ *= 2;
  current_ /= 2;
  std::vector<std::uint64_t> cells;
  cells.swap(cells_);
  for (std::size_t begin = 0; begin < cells.size(); begin += width_) {
    row_.assign(cells.begin() + static_cast<std::ptrdiff_t>(begin),
                cells.begin() + static_cast<std::ptrdiff_t>(begin + width_));
    row_[kInterval] /= 2;
    add(row_);
  }
}

std::string Sampler::csv() const {
  const SmShares shares(sms_[0].columns);
  std::ostringstream out;
  if (has_chip()) parts_.energy->price();
  out << "cycle,sm,cycles," << (has_chip() ? "energy_nj,power_w," : "") << shares.names();
  for (const statistics::Column& column : sms_[0].columns) out << "," << column.name;
  for (const Gauge& gauge : sms_[0].gauges) out << "," << gauge.name;
  out << "\n";
  statistics::Snapshot values(sms_[0].columns.size());
  for (std::size_t begin = 0; begin < cells_.size(); begin += width_) {
    const std::uint64_t* const row = cells_.data() + begin;
    if (has_chip() && row[kSm] == chip()) continue;
    values.assign(row + kFirstColumn);
    const SmValues counted(values);
    const std::uint64_t cycles = counted.scheduler_cycles() / parts_.schedulers;
    out << (row[kInterval] + 1) * interval_ << "," << row[kSm] << "," << cycles << ",";
    if (has_chip()) {
      const double picojoules = parts_.energy->picojoules_of_sm(row + kFirstColumn + sm_events_);
      const std::streamsize digits = out.precision(12);
      out << picojoules * 1e-3 << "," << watts(picojoules, cycles) << ",";
      out.precision(digits);
    }
    shares.write(out, counted, cycles, parts_.beats);
    for (std::size_t c = kFirstColumn; c < width_; ++c) out << "," << row[c];
    out << "\n";
  }
  return out.str();
}

// Rows of an interval stand together, in whatever order.
std::string Sampler::power() const {
  if (!has_chip()) return "";
  struct Interval {
    std::uint64_t cycles = 0;
    EnergyColumns::ByComponent picojoules{};
  };
  parts_.energy->price();
  std::map<std::uint64_t, Interval> intervals;
  for (std::size_t begin = 0; begin < cells_.size(); begin += width_) {
    const std::uint64_t* const row = cells_.data() + begin;
    Interval& of = intervals[row[kInterval]];
    if (row[kSm] == chip()) {
      of.cycles += row[kFirstColumn];
      parts_.energy->add_chip(row + kFirstColumn + 1, row[kFirstColumn], of.picojoules);
    } else {
      parts_.energy->add_sm(row + kFirstColumn + sm_events_, of.picojoules);
    }
  }
  std::ostringstream out;
  out << "cycle,cycles,energy_nj,power_w";
  for (std::size_t c = 0; c < energy::kComponents; ++c)
    out << "," << name_of(static_cast<energy::Component>(c)) << "_nj";
  out << "\n" << std::setprecision(12);
  for (const auto& [interval, of] : intervals) {
    const double picojoules = total(of.picojoules);
    out << (interval + 1) * interval_ << "," << of.cycles << "," << picojoules * 1e-3 << ","
        << watts(picojoules, of.cycles);
    for (const double part : of.picojoules) out << "," << part * 1e-3;
    out << "\n";
  }
  return out.str();
}

double Sampler::watts(double picojoules, std::uint64_t cycles) const {
  return cycles == 0 ? 0 : picojoules * 1e-6 * parts_.energy->core_mhz() / static_cast<double>(cycles);
}

}  // namespace weft
