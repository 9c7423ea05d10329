// A warning of a socket whose other side breaks a rule that `host.tolerant` overlooks: the first time only.
#ifndef WEFT_HOST_WARN_ONCE_H
#define WEFT_HOST_WARN_ONCE_H

#include <string>
#include <systemc>

namespace weft::host {

class WarnOnce {
 public:
  void operator()(const std::string& text) {
    if (said_) return;
    said_ = true;
    SC_REPORT_WARNING("/weft/host", text.c_str());
  }

 private:
  bool said_ = false;
};

}  // namespace weft::host

#endif
