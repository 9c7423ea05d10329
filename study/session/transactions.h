// The table of transactions (--transactions), as the command line asks for it.
#ifndef WEFT_STUDY_SESSION_TRANSACTIONS_H
#define WEFT_STUDY_SESSION_TRANSACTIONS_H

#include <memory>
#include <string>

#include "weft/platform/transaction_trace.h"

namespace weft::study {

struct TransactionOptions {
  std::string file;  // empty: no table
  std::string hops = "*", sms, addresses, kernel;
};

// Creates the file; nullptr: none is asked for. Throws InputError if the file cannot be written, or if what
// is to be written down makes no sense.
std::unique_ptr<TransactionTrace> transaction_trace(const TransactionOptions& options);

}  // namespace weft::study

#endif
