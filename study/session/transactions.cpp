#include "study/session/transactions.h"

#include <utility>

#include "study/session/ranges.h"
#include "weft/common/error.h"

namespace weft::study {

std::unique_ptr<TransactionTrace> transaction_trace(const TransactionOptions& options) {
  if (options.file.empty()) {
    const TransactionOptions none;
    if (options.hops != none.hops || !options.sms.empty() || !options.addresses.empty() ||
        !options.kernel.empty()) {
      throw InputError("--transactions-...", "needs the file of the table: --transactions FILE");
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

}  // namespace weft::study
