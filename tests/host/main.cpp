#include <gtest/gtest.h>

#include <systemc>

// libsystemc's main() calls this.
int sc_main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
