// Payloads with bytes of their own, and a memory manager: a target may keep one (`acquire`). One is used
// again when the last who holds it lets go.
#ifndef WEFT_HOST_PAYLOAD_POOL_H
#define WEFT_HOST_PAYLOAD_POOL_H

#include <memory>
#include <tlm>
#include <vector>

namespace weft::host {

class PayloadPool final : private tlm::tlm_mm_interface {
 public:
  PayloadPool() = default;
  // A copy of `payload` as it is now, not yet answered. One reference is the caller's.
  tlm::tlm_generic_payload& copy_of(const tlm::tlm_generic_payload& payload);

 private:
  struct Pooled : tlm::tlm_generic_payload {
    std::vector<unsigned char> data, enables;
  };
  void free(tlm::tlm_generic_payload* payload) override;

  std::vector<std::unique_ptr<Pooled>> all_;
  std::vector<Pooled*> free_;
};

}  // namespace weft::host

#endif
