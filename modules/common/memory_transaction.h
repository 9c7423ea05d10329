// What the hops SM -> crossbar -> L2 -> GDDR5 share: pooled payloads and one ignorable extension.
//
// TLM-2.0 base protocol, approximately timed. A target with a free place in its (finite) input queue answers
// BEGIN_REQ by TLM_UPDATED with END_REQ; otherwise TLM_ACCEPTED, and END_REQ follows on the backward path
// when a place becomes free: that is the back-pressure. The same holds for BEGIN_RESP and END_RESP
// (TLM_COMPLETED at once, or END_RESP later on the forward path). Addresses are offsets into device memory,
// from 0.
//
// Timed transactions of Weft's own origin carry the image's bytes: data_ptr points into the memory image
// (DMI), so reads need no copy and writes do not modify the image a second time. A payload without our
// extension is foreign: the final target copies its data when the transaction completes.
#ifndef WEFT_COMMON_MEMORY_TRANSACTION_H
#define WEFT_COMMON_MEMORY_TRANSACTION_H

#include <cstdint>
#include <tlm>
#include <vector>

#include "common/clock_domain.h"

namespace weft {

enum class AccessKind : std::uint8_t {
  kRead,
  kWrite,
  kAtomic,
  kInstruction,
  kConstant,
  kTexture,
  kWriteBack
};

// Does an atomic on bytes that were read from system memory, for the port that leads there.
class AtomicOperation {
 public:
  virtual ~AtomicOperation() = default;
  // `access`: TransactionOrigin::access. Changes the transaction's data; they are written back then.
  virtual void apply(std::uint32_t access) = 0;
};

// Origin and timestamps of a transaction made by Weft. A module that does not know it may ignore it.
struct TransactionOrigin : tlm::tlm_extension<TransactionOrigin> {
  AccessKind kind = AccessKind::kRead;
  std::uint16_t sm = 0;  // index of the requesting SM; 0xffff: an L2 bank's own write-back
  std::uint16_t atomic_lanes =
      0;                     // kAtomic: number of lanes to serialise at the L2 (or at the memory controller)
  std::uint64_t tag = 0;     // the originator's own handle, untouched by others
  bool system = false;       // the address is one of system memory
  std::uint32_t access = 0;  // system memory: the originator's handle for the access
  bool moves_data = false;   // system memory: the bytes do not change hands before the transaction completes
  AtomicOperation* atomic = nullptr;  // kAtomic to system memory: not done yet
  std::uint64_t issued_ps = 0;        // simulated time of BEGIN_REQ at the origin, in picoseconds

  tlm::tlm_extension_base* clone() const override { return new TransactionOrigin(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const TransactionOrigin&>(other);
  }
};

// Number of bytes that a packet occupies on an interconnect beside its data: address, command, origin.
inline constexpr std::uint64_t kHeaderBytes = 8;

// Pool of payloads, each with its own TransactionOrigin for life. Owned by an initiator; grows to its
// high-water mark and never shrinks while in use. `free` resets the payload's attributes and the origin.
class TransactionPool : public tlm::tlm_mm_interface {
 public:
  TransactionPool() = default;
  ~TransactionPool() override;
  TransactionPool(const TransactionPool&) = delete;
  TransactionPool& operator=(const TransactionPool&) = delete;

  // A payload with reference count 1 (call release() when done), command, address, length and streaming width
  // set, response INCOMPLETE, no byte enables, DMI not allowed.
  tlm::tlm_generic_payload& acquire(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                                    unsigned bytes);
  void free(tlm::tlm_generic_payload* payload) override;
  std::size_t in_use() const { return all_.size() - idle_.size(); }

 private:
  std::vector<tlm::tlm_generic_payload*> all_;
  std::vector<tlm::tlm_generic_payload*> idle_;
};

// The origin of a payload, or nullptr if it is foreign.
inline TransactionOrigin* origin_of(const tlm::tlm_generic_payload& payload) {
  return payload.get_extension<TransactionOrigin>();
}

}  // namespace weft

#endif
