#include "weft/host/config.h"

#include "host/register_table.h"
#include "weft/common/error.h"

namespace weft::host {

void Config::describe(config::Visitor& v) {
  v.integer("queues", queues, {1, kMostQueues}, "queues",
            "rings of packets that the command processor serves");
  v.integer("register_cycles", register_cycles, {1, 10'000}, "cycles",
            "interconnect cycles from a register access to its response");
  v.integer("requests", requests, {1, 1024}, "requests",
            "accesses to the host socket that are under way before END_REQ is withheld");
  v.integer(
      "burst_bytes", burst_bytes, {4, 4096}, "bytes",
      "most bytes of a transaction, also of kernels to system memory; a power of two (to device memory at "
      "most the interleave)");
  v.integer("outstanding", outstanding, {1, 256}, "transactions",
            "transactions under way to system memory, and the same number to device memory");
  v.integer("dma_slots", dma_slots, {1, 256}, "bursts",
            "bursts that the DMA engine holds between reading and writing");
  v.integer("poll_cycles", poll_cycles, {1, 1'000'000}, "cycles",
            "interconnect cycles between two polls of a signal, or of a packet that is not written yet");
  config::choice(v, "dma_transport", dma_transport,
                 {{"at", Transport::kApproximate}, {"lt", Transport::kLoose}},
                 "calls of dma_socket: at (nb_transport), lt (b_transport, one transaction at a time)");
  v.boolean("tolerant", tolerant,
            "accept two protocol errors, with one warning each: a streaming width of 0 (taken as the data "
            "length) and a missing response status (taken as success)");
  v.boolean("functional", functional,
            "kernels of packets run without timing after a reset, until a write to the register MODE");
}

void Config::check(const std::string& where) const {
  if ((burst_bytes & (burst_bytes - 1)) != 0) {
    throw InputError(where + "/burst_bytes",
                     "found " + std::to_string(burst_bytes) + "; allowed: powers of two");
  }
}

}  // namespace weft::host
