// A shared object that ends the process while it is loaded, in the way that the environment says.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string_view>

namespace {

struct Dying {
  Dying() {
    const char* const variable = std::getenv("WEFT_TEST_DYING");
    const std::string_view how = variable == nullptr ? "" : variable;
    if (how == "standard") throw std::runtime_error("no licence");
    if (how == "other") throw 7;
    if (how == "signal") std::raise(SIGSEGV);
    if (how == "terminate") std::terminate();
  }
};

const Dying dying;

}  // namespace
