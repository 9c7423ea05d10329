// SIGINT as a flag: the first Ctrl-C ends the running launch, a second one the program.
#ifndef WEFT_SC_MAIN_INTERRUPT_H
#define WEFT_SC_MAIN_INTERRUPT_H

namespace weft::cli {

void catch_interrupts();
bool interrupted();

}  // namespace weft::cli

#endif
