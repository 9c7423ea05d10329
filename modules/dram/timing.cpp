#include "weft/dram/timing.h"

#include "common/config_origins.h"
#include "weft/common/error.h"

namespace weft::dram {

void Timing::describe(config::Visitor& v) {
  constexpr config::IntegerRange kCycles{0, 10'000};
  constexpr config::IntegerRange kSome{1, 10'000};
  v.integer("t_rrd", rrd, kSome, "cycles", "activate to activate of another bank (tRRDS)");
  v.integer("t_rrdl", rrdl, kCycles, "cycles",
            "activate to activate of another bank of the bank group; 0: t_rrd");
  v.integer("t_faw", faw, kCycles, "cycles", "time in which at most four activates go out; 0: no such limit");
  v.integer("t_rcd", rcd, kSome, "cycles", "activate to read command, and to write command (tRCDRD)");
  v.integer("t_rcdwr", rcdwr, kCycles, "cycles", "activate to write command, if it differs; 0: t_rcd");
  v.integer("t_ras", ras, kSome, "cycles", "activate to precharge");
  v.integer("t_rp", rp, kSome, "cycles", "precharge to activate");
  v.integer("t_rc", rc, kSome, "cycles", "activate to activate of the same bank");
  v.integer("t_cl", cl, kSome, "cycles", "read command to first data");
  v.integer("t_wl", wl, kSome, "cycles", "write command to first data");
  v.integer("t_wr", wr, kCycles, "cycles", "last write data to precharge");
  v.integer("t_wtr", wtr, kCycles, "cycles", "last write data to read command (tWTRS, tCDLR)");
  v.integer("t_wtrl", wtrl, kCycles, "cycles",
            "last write data to read command within a bank group; 0: t_wtr");
  v.integer("t_rtp", rtp, kCycles, "cycles", "read command to precharge (tRTPL)");
  v.integer("t_ccd", ccd, kSome, "cycles", "column command to column command");
  v.integer("t_ccdl", ccdl, kSome, "cycles", "column command to column command within a bank group");
  v.integer("turnaround", turnaround, kCycles, "cycles",
            "idle data-bus cycles between read data and write data");
  v.integer("t_refi", refi, {0, 1'000'000'000}, "cycles", "refresh interval; 0: no refresh");
  v.integer("t_rfc", rfc, {0, 1'000'000}, "cycles", "refresh of all banks to activate (tRFCab)");
  v.integer("t_rfcpb", rfcpb, {0, 1'000'000}, "cycles", "refresh of one bank to its activate (tRFCpb)");
  v.integer("burst_length", burst_length, {1, 64}, "beats", "data transfers of a column command");
  v.integer("beats_per_clock", beats_per_clock, {1, 16}, "beats",
            "data transfers per command clock: 4 for GDDR5, 2 for double data rate");
  v.integer("device_bits", device_bits, {8, 1024}, "bits", "width of a device");
}

void Timing::check(const std::string& where) const {
  const auto not_below = [&](const char* key, std::uint64_t value, const char* short_key,
                             std::uint64_t shortest) {
    if (value == 0 || value >= shortest) return;
    throw config::RuleError(where + key, {where + short_key},
                            "found " + std::to_string(value) + "; allowed: 0, or at least " +
                                std::string(short_key + 1) + " = " + std::to_string(shortest));
  };
  not_below("/t_rrdl", rrdl, "/t_rrd", rrd);
  not_below("/t_wtrl", wtrl, "/t_wtr", wtr);
  const std::uint64_t bytes = burst_bytes();
  if (device_bits % 8 != 0 || (bytes & (bytes - 1)) != 0) {
    throw config::RuleError(where + "/burst_length", {where + "/device_bits", where + "/devices"},
                            "a burst of " + std::to_string(bytes) +
                                " bytes (burst_length x device_bits / 8 x devices) is not a power of two");
  }
  // Otherwise a channel could not finish a refresh, with rows to close and open again, before the next is
  // due.
  const auto leaves_time = [&](const char* key, std::uint64_t duration) {
    const std::uint64_t least = 2 * (rc + rp + duration);
    if (refi == 0 || refi >= least) return;
    throw config::RuleError(where + "/t_refi", {where + "/t_rc", where + "/t_rp", where + "/" + key},
                            std::to_string(refi) + " cycles; allowed: 0 (off) or at least " +
                                std::to_string(least) + " (2 x (t_rc + t_rp + " + key + "))");
  };
  leaves_time("t_rfc", rfc);
  leaves_time("t_rfcpb", rfcpb);
}

}  // namespace weft::dram
