// Moves the bytes of a foreign payload between its data array and memory.
#ifndef WEFT_BUS_PAYLOAD_DATA_H
#define WEFT_BUS_PAYLOAD_DATA_H

#include <cstring>
#include <tlm>

namespace weft {

// visit(offset, bytes) for each run of enabled bytes, in ascending order. Byte enables repeat when they are
// shorter than the data (IEEE 1666-2011, 14.14); without them everything is one run.
template <class Visit>
void for_each_enabled_run(const tlm::tlm_generic_payload& payload, Visit&& visit) {
  const unsigned length = payload.get_data_length();
  const unsigned char* enables = payload.get_byte_enable_ptr();
  if (enables == nullptr || payload.get_byte_enable_length() == 0) {
    if (length != 0) visit(0u, length);
    return;
  }
  const unsigned period = payload.get_byte_enable_length();
  unsigned begin = 0;
  for (unsigned i = 0; i <= length; ++i) {
    if (i < length && enables[i % period] != TLM_BYTE_DISABLED) continue;
    if (i > begin) visit(begin, i - begin);
    begin = i + 1;
  }
}

// Performs the payload's read or write on the bytes at `memory`, which stand for its address.
inline void move_data(tlm::tlm_generic_payload& payload, unsigned char* memory) {
  unsigned char* data = payload.get_data_ptr();
  for_each_enabled_run(payload, [&](unsigned offset, unsigned bytes) {
    if (payload.is_write()) {
      std::memcpy(memory + offset, data + offset, bytes);
    } else if (payload.is_read()) {
      std::memcpy(data + offset, memory + offset, bytes);
    }
  });
}

}  // namespace weft

#endif
