// Which of the requests that wait for a bank is served next. An order is one file (weft/common/parts.h); a
// channel has one.
#ifndef WEFT_DRAM_REQUEST_ORDER_H
#define WEFT_DRAM_REQUEST_ORDER_H

#include <cstdint>
#include <vector>

#include "weft/common/parts.h"

namespace weft::dram {

struct BankRequest {
  std::uint32_t handle = 0;  // the owner's
  std::uint32_t gate = 0;    // index of the response gate it needs
  unsigned bank = 0;
  std::uint64_t row = 0;
  std::uint64_t first_burst = 0;  // of the row
  unsigned bursts = 1;
  bool write = false;
  std::uint64_t occupy = 0;  // cycles that the bank stays busy after the last burst (atomics)
};

// How far a request is: the last kind of command that was sent for it. From kActivated on it is served to its
// end. A refresh may close its row in between; the stage stays.
enum class RequestStage : std::uint8_t { kWaiting, kPrecharged, kActivated, kTransferring };

struct QueuedRequest {
  static constexpr std::uint16_t kNone = 0xffff;
  BankRequest request;
  std::uint64_t order = 0;  // of arrival, over all banks
  RequestStage stage = RequestStage::kWaiting;
  bool drained = false;  // it waits among the writes that are drained (dram.write_drain)
  std::uint16_t next = kNone;
  std::uint16_t previous = kNone;
};

// What waits for one bank, as a list from the oldest to the youngest, and what the bank is like.
class WaitingRequests {
 public:
  WaitingRequests(const std::vector<QueuedRequest>& queue, std::uint16_t oldest, bool open, std::uint64_t row,
                  std::uint64_t overtakes)
      : queue_(queue), oldest_(oldest), open_(open), row_(row), overtakes_(overtakes) {}

  static constexpr std::uint16_t kNone = QueuedRequest::kNone;
  std::uint16_t oldest() const { return oldest_; }
  std::uint16_t younger(std::uint16_t index) const { return queue_[index].next; }  // kNone: none
  const BankRequest& operator[](std::uint16_t index) const { return queue_[index].request; }
  // Is its row open?
  bool hits(std::uint16_t index) const { return open_ && queue_[index].request.row == row_; }
  // The oldest one that hits; kNone: none.
  std::uint16_t oldest_hit() const {
    std::uint16_t index = open_ ? oldest_ : kNone;
    while (index != kNone && queue_[index].request.row != row_) index = queue_[index].next;
    return index;
  }
  // Requests served since the oldest one was passed over.
  std::uint64_t overtakes() const { return overtakes_; }

 private:
  const std::vector<QueuedRequest>& queue_;
  std::uint16_t oldest_;
  bool open_;
  std::uint64_t row_, overtakes_;
};

class RequestOrder {
 public:
  using Kind = RequestOrder;
  static constexpr const char* kKind = "DRAM scheduler";
  struct Setting {
    unsigned banks = 1;
  };

  virtual ~RequestOrder() = default;
  // Requests are handed to their banks strictly in order of arrival; one whose bank is busy stops those
  // behind it. Nothing else is asked then.
  virtual bool in_order() const { return false; }
  // The request that a free bank takes. At least one waits.
  virtual std::uint16_t next(const WaitingRequests& waiting) const { return waiting.oldest(); }
  // Does a request that comes take the place of the one that the bank has taken and not begun? `came_hits`,
  // `taken_hits`: are their rows open?
  virtual bool displaces(bool came_hits, bool taken_hits) const {
    static_cast<void>(came_hits), static_cast<void>(taken_hits);
    return false;
  }
};

// Whether a row stays open after a request.
class PagePolicy {
 public:
  using Kind = PagePolicy;
  static constexpr const char* kKind = "page policy";
  struct Setting {
    unsigned banks = 1;
  };

  virtual ~PagePolicy() = default;
  // Every row stays open: it need not be asked.
  virtual bool always_open() const { return false; }
  // Is the row closed with the last column command of a request (auto-precharge)? `wanted`: another request
  // that waits for the bank hits it.
  virtual bool closes(bool wanted) const = 0;
};

}  // namespace weft::dram

#endif
