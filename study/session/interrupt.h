// SIGINT, SIGTERM and SIGHUP as a flag: they end the running launch, and what there is gets written. A second
// SIGINT ends the program; the others may come in any number (as `timeout` sends them: to the program and to
// its group).
#ifndef WEFT_STUDY_SESSION_INTERRUPT_H
#define WEFT_STUDY_SESSION_INTERRUPT_H

#include <csignal>

namespace weft::study {

void catch_interrupts();
bool interrupted();
// The signals that are caught, for masks.
sigset_t interrupt_signals();

}  // namespace weft::study

#endif
