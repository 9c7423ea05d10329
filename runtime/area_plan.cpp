#include "runtime/area_plan.h"

#include <algorithm>

namespace weft::runtime {
namespace {

constexpr std::uint64_t kMostRows = 64;  // short ones that a piece holds

// What `bytes` (a power of two from 8 on) that follow each other in a block-linear image cover: the formula
// in texture/image.h, bit by bit.
struct Shape {
  std::uint64_t width, height;  // bytes, rows
};
Shape shape_of(std::uint64_t bytes) {
  if (bytes >= 512) return {bytes / 8, 8};
  switch (bytes) {
    case 256:
      return {32, 8};
    case 128:
      return {32, 4};
    case 64:
      return {32, 2};
    case 32:
      return {16, 2};
    default:
      return {bytes, 1};
  }
}

// After how many bytes a pattern begins again: 1, 2 or 4.
std::uint64_t period_of(std::uint32_t pattern) {
  if ((pattern & 0xffff) != pattern >> 16) return 4;
  return (pattern & 0xff) == (pattern >> 8 & 0xff) ? 1 : 2;
}

// Appends to the last run if the bytes follow it.
void add_run(std::vector<host::DmaPiece::Run>& runs, std::uint64_t address, std::uint64_t bytes) {
  if (!runs.empty() && runs.back().address + runs.back().bytes == address) {
    runs.back().bytes += bytes;
  } else {
    runs.push_back({address, bytes});
  }
}

}  // namespace

AreaPlan::AreaPlan(const Area& to, const Area& from, const Box& box) : to_(to), from_(from), box_(box) {}
AreaPlan::AreaPlan(const Area& to, const Box& box, std::uint32_t pattern)
    : to_(to), box_(box), pattern_(pattern) {}

bool AreaPlan::next(host::DmaPiece& piece, std::uint64_t most) {
  if (box_.empty() || z_ == box_.depth) return false;
  const Tile next = tile(most);
  find_parts(next);
  if (from_) read(piece);
  write(piece);
  if (from_) reorder(piece);
  const auto phase = static_cast<unsigned>(x_ % 4 * 8);  // of the row's pattern where the piece begins
  piece.pattern = phase == 0 ? pattern_ : pattern_ >> phase | pattern_ << (32 - phase);
  advance(next);
  return true;
}

AreaPlan::Tile AreaPlan::tile(std::uint64_t most) const {
  const bool whole_rows = to_.has_whole_rows() && (!from_ || from_->has_whole_rows());
  if (!whole_rows) {
    const Area& array = to_.has_whole_rows() ? *from_ : to_;
    const Shape shape = shape_of(most);
    return {std::min(shape.width - (array.x + x_) % shape.width, box_.width - x_),
            std::min(shape.height - (array.y + y_) % shape.height, box_.height - y_)};
  }
  if (box_.width <= most) {
    // The pattern of a fill begins anew in each row.
    const bool rows_join = from_ || box_.width % period_of(pattern_) == 0;
    const std::uint64_t rows = rows_join ? std::min(most / box_.width, kMostRows) : 1;
    return {box_.width, std::min(box_.height - y_, rows)};
  }
  // Within one burst at both ends.
  std::uint64_t width = std::min(most - to_.address_of(x_, y_, z_) % most, box_.width - x_);
  if (from_) width = std::min(width, most - from_->address_of(x_, y_, z_) % most);
  return {width, 1};
}

void AreaPlan::find_parts(const Tile& tile) {
  parts_.clear();
  const Area to = to_.from(x_, y_, z_), from = from_ ? from_->from(x_, y_, z_) : Area();
  for_each_run(to, from, {tile.width, tile.height, 1},
               [this](std::uint64_t written, std::uint64_t read, std::uint64_t bytes) {
                 parts_.push_back({read, written, bytes});
               });
}

void AreaPlan::read(host::DmaPiece& piece) {
  std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.from < b.from; });
  std::uint64_t offset = 0;
  for (Part& part : parts_) {
    part.in = static_cast<std::uint32_t>(offset);
    offset += part.bytes;
    add_run(piece.reads, part.from, part.bytes);
  }
}

void AreaPlan::write(host::DmaPiece& piece) {
  std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.to < b.to; });
  std::uint64_t offset = 0;
  for (Part& part : parts_) {
    part.out = static_cast<std::uint32_t>(offset);
    offset += part.bytes;
    add_run(piece.writes, part.to, part.bytes);
  }
}

void AreaPlan::reorder(host::DmaPiece& piece) const {
  if (std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.in == part.out; })) return;
  for (const Part& part : parts_)
    piece.moves.push_back({part.in, part.out, static_cast<std::uint32_t>(part.bytes)});
}

void AreaPlan::advance(const Tile& tile) {
  x_ += tile.width;
  if (x_ < box_.width) return;
  x_ = 0;
  y_ += tile.height;
  if (y_ < box_.height) return;
  y_ = 0;
  ++z_;
}

}  // namespace weft::runtime
