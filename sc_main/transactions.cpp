#include "sc_main/transactions.h"

#include <vector>

#include "common/number.h"
#include "sc_main/options.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

// "3", "0-3" or several with commas between.
std::vector<TransactionFilter::Range> read_ranges(const std::string& option, const std::string& text,
                                                  std::uint64_t most) {
  std::vector<TransactionFilter::Range> ranges;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t dash = part.find('-');
    const auto number = [&](const std::string& digits) { return read_unsigned(option, digits, {0, most}); };
    const std::uint64_t first = number(part.substr(0, dash));
    const std::uint64_t last = dash == std::string::npos ? first : number(part.substr(dash + 1));
    if (last < first)
      throw InputError(option, "found '" + part + "'; allowed: FIRST-LAST, where LAST is not below FIRST");
    ranges.emplace_back(first, last);
    begin = end + 1;
  }
  return ranges;
}

}  // namespace

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
