#include "sc_main/transactions.h"

#include <utility>

#include "sc_main/options.h"
#include "sc_main/ranges.h"
#include "weft/common/error.h"

namespace weft::cli {

void add_transaction_options(Options& description, TransactionOptions& options) {
  description
      .text("transactions", options.file, "FILE",
            "write a table of the transactions on the hops, with the times of their phases")
      .text("transactions-hops", options.hops, "PATTERN",
            "only on hops with such names: hop_sm*, hop_l2_0 (all)")
      .text("transactions-sms", options.sms, "N-M,...", "only those of these SMs (all, and those of no SM)")
      .text("transactions-bytes", options.addresses, "N-M,...",
            "only those that touch these bytes, as kernels see them: 0x100000000-0x1000000ff (all)")
      .text("transactions-kernel", options.kernel, "NAME", "only those of SMs that run this kernel (all)");
}

std::unique_ptr<TransactionTrace> transaction_trace(const TransactionOptions& options) {
  if (options.file.empty()) {
    const TransactionOptions none;
    if (options.hops != none.hops || !options.sms.empty() || !options.addresses.empty() ||
        !options.kernel.empty()) {
      throw InputError("--transactions-...",
                       "says which are written down; give the file, too: --transactions FILE");
    }
    return nullptr;
  }
  TransactionFilter filter;
  filter.hops = options.hops;
  filter.sms = read_ranges("--transactions-sms", options.sms, 65534);
  filter.addresses = read_ranges("--transactions-bytes", options.addresses, UINT64_MAX);
  filter.kernel = options.kernel;
  return std::make_unique<TransactionTrace>(options.file, std::move(filter));
}

}  // namespace weft::cli
