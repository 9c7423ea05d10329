// An interrupt line to a controller that is called and not wired.
//
//   weft::InterruptCall to_plic("to_plic", [&plic](bool high) { if (high) plic.trigger(7); });
//   gpu.irq.bind(to_plic.line);                 // or gpu.queue_irq[q]
//
// The function is called at each change of the level, in a process that must not wait: it may notify events
// and write signals. The line is low at first, of which it is not told.
#ifndef WEFT_PLATFORM_INTERRUPT_CALL_H
#define WEFT_PLATFORM_INTERRUPT_CALL_H

#include <functional>
#include <systemc>
#include <utility>

namespace weft {

class InterruptCall final : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(InterruptCall);
  sc_core::sc_signal<bool> line;

  InterruptCall(sc_core::sc_module_name name, std::function<void(bool high)> changed)
      : sc_module(name), line("line"), changed_(std::move(changed)) {
    SC_METHOD(call);
    sensitive << line;
    dont_initialize();
  }

 private:
  void call() { changed_(line.read()); }

  const std::function<void(bool high)> changed_;
};

}  // namespace weft

#endif
