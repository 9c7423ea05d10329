/* weft_registers.h in C99: what a driver does with it. */
#include "weft/weft_registers.h"

uint64_t weft_test_doorbell_of_queue_3(void);
uint64_t weft_test_doorbell_of_queue_3(void) {
  return WEFT_QUEUE(3u, WEFT_QUEUE_DOORBELL);
}

uint16_t weft_test_header_of_dispatch(void);
uint16_t weft_test_header_of_dispatch(void) {
  struct weft_kernel_dispatch_packet packet = {0};
  packet.header = WEFT_PACKET_KERNEL_DISPATCH | WEFT_PACKET_BARRIER_BIT;
  return packet.header;
}
