// How the DMA engine copies or fills a box: which runs of bytes each piece reads and writes.
//
// Where both sides have whole rows, a piece is part of a row, or several short rows. The bytes of arrays lie
// in groups of 64 bytes by 8 rows (texture/image.h): a piece is as many of them as a burst holds, so that it
// reads parts of rows and writes whole groups, or the other way round. A burst that holds no group takes a
// part of one that follows each other.
#ifndef WEFT_RUNTIME_AREA_PLAN_H
#define WEFT_RUNTIME_AREA_PLAN_H

#include <cstdint>
#include <optional>
#include <vector>

#include "host/dma_engine.h"
#include "weft/runtime/areas.h"

namespace weft::runtime {

class AreaPlan final : public host::DmaPlan {
 public:
  AreaPlan(const Area& to, const Area& from, const Box& box);
  // A fill.
  AreaPlan(const Area& to, const Box& box, std::uint32_t pattern);

  bool next(host::DmaPiece& piece, std::uint64_t most) override;

 private:
  struct Part {  // that follows each other on both sides
    std::uint64_t from = 0, to = 0, bytes = 0;
    std::uint32_t in = 0, out = 0;  // offsets among the bytes read, and among those written
  };
  struct Tile {
    std::uint64_t width = 0, height = 0;
  };

  Tile tile(std::uint64_t most) const;
  void find_parts(const Tile& tile);
  void read(host::DmaPiece& piece);
  void write(host::DmaPiece& piece);
  void reorder(host::DmaPiece& piece) const;
  void advance(const Tile& tile);

  const Area to_;
  const std::optional<Area> from_;
  const Box box_;
  const std::uint32_t pattern_ = 0;
  std::uint64_t x_ = 0, y_ = 0, z_ = 0;  // of the next tile
  std::vector<Part> parts_;              // of the tile
};

}  // namespace weft::runtime

#endif
