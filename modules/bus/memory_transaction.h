// What the hops SM -> crossbar -> L2 -> DRAM share: pooled payloads and one ignorable extension.
//
// TLM-2.0 base protocol, approximately timed. A target with a free place in its (finite) input queue answers
// BEGIN_REQ by TLM_UPDATED with END_REQ; otherwise TLM_ACCEPTED, and END_REQ follows on the backward path
// when a place becomes free: that is the back-pressure. The same holds for BEGIN_RESP and END_RESP
// (TLM_COMPLETED at once, or END_RESP later on the forward path). Addresses are offsets into device memory,
// from 0.
//
// A transaction of Weft's own origin says when; what it does to memory, its instruction has done at issue.
// Nobody moves its bytes to or from memory or registers. Where somebody looks at a hop it carries them all
// the same (TransactionOrigin::carries), in a data array of its own that stands still while it is under way
// (IEEE 1666-2011, 14.7): a write those of its instruction's issue (an atomic: after its operation), a
// write-back those of the eviction; those of a read are filled in by the module that answers, when it sends
// BEGIN_RESP. Where nobody looks, data_ptr points into the memory image (DMI). A payload without our
// extension is foreign: the final target copies its data.
//
// Transactions to system memory (TransactionOrigin::system) always carry their bytes, and move them: a load
// has its values from its response, a store's bytes are in memory when it is answered. An atomic is a write
// here, whose operation the port that leads there does (AtomicOperation); its data are not defined. What has
// gaps has byte enables.
#ifndef WEFT_BUS_MEMORY_TRANSACTION_H
#define WEFT_BUS_MEMORY_TRANSACTION_H

#include <cstdint>
#include <tlm>
#include <vector>

#include "bus/clock_domain.h"

namespace weft {

// An access of 4 bytes that is never sent: direct access (DMI) tells latencies of one like it.
struct WordAccess : tlm::tlm_generic_payload {
  explicit WordAccess(std::uint64_t address) {
    set_address(address / 4 * 4);
    set_data_length(4);
    set_streaming_width(4);
  }
  const tlm::tlm_generic_payload& as(tlm::tlm_command command) {
    set_command(command);
    return *this;
  }
};

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
  // `access`: TransactionOrigin::access. Changes the bytes that were read, `count` from `address` on; they
  // are written back then.
  virtual void apply(std::uint32_t access, std::uint64_t address, unsigned char* bytes, unsigned count) = 0;
};

// When a transaction of an SM left which part of its way, in picoseconds. Who waited for it can say where it
// was.
struct TransactionStages {
  std::uint64_t delivered_ps = 0;  // the request network gave it to the L2, or to memory
  std::uint64_t fetched_ps = 0;    // it began to wait for memory; 0: it did not
  std::uint64_t filled_ps = 0;     // memory's data came
  std::uint64_t answered_ps = 0;   // its response entered the response network
};

// Origin and timestamps of a transaction made by Weft. A module that does not know it may ignore it.
struct TransactionOrigin : tlm::tlm_extension<TransactionOrigin> {
  AccessKind kind = AccessKind::kRead;
  bool carries = false;  // the data array holds the bytes: who answers a read fills it
  std::uint16_t sm = 0;  // index of the requesting SM; 0xffff: an L2 bank's own write-back
  std::uint16_t atomic_lanes =
      0;                     // kAtomic: number of lanes to serialise at the L2 (or at the memory controller)
  std::uint64_t tag = 0;     // the originator's own handle, untouched by others
  bool system = false;       // the address is one of system memory
  std::uint32_t access = 0;  // system memory: the originator's handle for the access
  std::uint16_t parts = 0;   // system memory: of it, not answered yet, where it had to be divided
  AtomicOperation* atomic = nullptr;  // kAtomic to system memory: not done yet
  std::uint64_t issued_ps = 0;        // simulated time of BEGIN_REQ at the origin, in picoseconds
  TransactionStages stages;

  tlm::tlm_extension_base* clone() const override { return new TransactionOrigin(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const TransactionOrigin&>(other);
  }
};

// Number of bytes that a packet occupies on an interconnect beside its data: address, command, origin.
inline constexpr std::uint64_t kHeaderBytes = 8;

// Pool of payloads, each with its own TransactionOrigin and data array for life. Owned by an initiator; grows
// to its high-water mark and never shrinks while in use. `free` resets the payload's attributes and the
// origin.
class TransactionPool : public tlm::tlm_mm_interface {
 public:
  TransactionPool() = default;
  ~TransactionPool() override;
  TransactionPool(const TransactionPool&) = delete;
  TransactionPool& operator=(const TransactionPool&) = delete;

  // A payload with reference count 1 (call release() when done), command, address, length and streaming width
  // set, response INCOMPLETE, no byte enables, DMI not allowed. Its data array has what the last user left.
  tlm::tlm_generic_payload& acquire(tlm::tlm_command command, std::uint64_t address, unsigned bytes);
  // The same with the caller's data array, which outlives the transaction.
  tlm::tlm_generic_payload& acquire(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                                    unsigned bytes);
  // Gives a payload of this pool byte enables of its own, one for each byte of its data.
  static void enable(tlm::tlm_generic_payload& payload, const unsigned char* enables);
  void free(tlm::tlm_generic_payload* payload) override;
  std::size_t in_use() const { return all_.size() - idle_.size(); }

 private:
  struct Pooled final : tlm::tlm_generic_payload {
    explicit Pooled(tlm::tlm_mm_interface* manager) : tlm_generic_payload(manager) {}
    std::vector<unsigned char> bytes, enables;
  };
  Pooled& take(tlm::tlm_command command, std::uint64_t address, unsigned bytes);

  std::vector<Pooled*> all_;
  std::vector<Pooled*> idle_;
};

// The origin of a payload, or nullptr if it is foreign.
inline TransactionOrigin* origin_of(const tlm::tlm_generic_payload& payload) {
  return payload.get_extension<TransactionOrigin>();
}

}  // namespace weft

#endif
