// SystemC's own main() prints a banner; this one switches it off and then does the same.
#include <cstdlib>
#include <systemc>

#include "sc_main/cli.h"

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}

int sc_main(int argc, char** argv) {
  return weft::cli::main(argc, argv);
}
