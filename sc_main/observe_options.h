// The options of what a run records beside its statistics: waveforms, a timeline, a table of transactions.
#ifndef WEFT_SC_MAIN_OBSERVE_OPTIONS_H
#define WEFT_SC_MAIN_OBSERVE_OPTIONS_H

#include "sc_main/options.h"
#include "study/session/timeline.h"
#include "study/session/trace.h"
#include "study/session/transactions.h"

namespace weft::cli {

// --vcd, --vcd-signals, --vcd-start...
void add_trace_options(Options& description, TraceOptions& options);
// --timeline, --timeline-sms, --timeline-start...
void add_timeline_options(Options& description, TimelineOptions& options);
// --transactions, --transactions-hops...
void add_transaction_options(Options& description, TransactionOptions& options);

}  // namespace weft::cli

#endif
