// GDB's other side: the threads, registers and memory of a simulated GPU, over GDB's remote serial protocol.
//
//   debugger::Debugger debugger({port, "", interrupted});      // listens
//   for (unsigned sm = 0; sm < sms; ++sm) gpu.attach(sm, debugger.add_sm());
//   debugger.launching(module, program);                       // before each launch
//   ...                                                        // the simulation
//   debugger.ended(exit_code);
//
// Before the first instruction of the first kernel it writes the symbols, says how to start GDB, and waits
// for it. While GDB has stopped the threads, a call to an observer does not return: simulated time stands,
// and nothing of the simulation changes but what GDB writes.
#ifndef WEFT_DEBUGGER_DEBUGGER_H
#define WEFT_DEBUGGER_DEBUGGER_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/connection.h"
#include "debugger/debug_image.h"
#include "debugger/packets.h"
#include "debugger/stop_points.h"
#include "debugger/threads.h"
#include "weft/loader/loaded_module.h"

namespace weft::debugger {

struct Options {
  std::uint16_t port = 0;  // of 127.0.0.1; 0: any that is free
  std::string symbols;     // the file with symbols; empty: in a folder of its own, which goes with the run
  std::function<bool()> interrupted;  // asked while it waits; true: the run is to end, without GDB
};

class Debugger final : private SmEvents {
 public:
  // Throws InputError if the port cannot be used.
  explicit Debugger(Options options);
  ~Debugger() override;

  // Of the SM with the next number, from 0 on.
  sm::SmObserver& add_sm() { return threads_.add_sm(*this); }
  // What is outside the GPU, to read it; outlives the launches.
  void reach(const execute::SystemMemory* system) { system_ = system; }
  // A launch of the module's is about to begin.
  void launching(loader::LoadedModule& module, const std::shared_ptr<const ptx::Program>& program);
  // A launch has ended in a way of which no SM knows: a hang.
  void hung(const std::string& why);
  // The program has ended, or is about to: GDB is told its exit code.
  void ended(int exit_code);

 private:
  struct Stop {
    unsigned signal = 5;
    ThreadId id = 0;
    std::string reason;            // of the packet: "watch:100000000;"
    std::uint64_t breakpoint = 0;  // its address, if it is one
  };
  // What GDB has asked for: threads go on, one of them perhaps by steps.
  struct Resumption {
    bool others = true;               // also the threads that do not step
    ThreadId stepping = 0;            // 0: none
    std::uint64_t low = 0, high = 0;  // it goes on while it is at these addresses
    bool passes = false;              // its next instruction has not begun: it is to be executed
    bool over = false;                // it has ended
  };

  void kernel_started(SmThreads& sm, const execute::Kernel& kernel) override;
  void issuing(SmThreads& sm, const sm::InFlight& flight) override;
  void accessed(SmThreads& sm, const sm::InFlight& flight, const execute::LaneAccess* accesses,
                unsigned count) override;
  void faulted(SmThreads& sm, const Fault& why) override;
  void stepped(SmThreads& sm) override;
  bool wanted() const override { return !left_; }

  void begin(const Thread& first);
  void write_images();
  void remove_folder();
  bool connect();
  void kill(SmThreads& sm);
  void halt_at_access(const Thread& thread, ptx::Pc pc, const Watchpoint& hit, std::uint64_t address);
  bool step_is_over(const Thread& thread);
  Thread at_breakpoint(SmThreads& sm, const sm::InFlight& flight);
  bool user_interrupts();
  Thread stepping_in(SmThreads& sm, const sm::InFlight& flight);
  Thread among(SmThreads& sm, const sm::InFlight& flight, ThreadId id);
  void follow(ThreadId id);

  // Reports a stop, and serves GDB until it lets the threads go on.
  void halt(Stop stop);
  bool serve();  // false: GDB has left
  void leave(const char* why);
  void receive();
  void reply(std::string_view payload);
  void tell(const Stop& stop);
  std::string text_of(const Stop& stop);
  void say(const std::string& text);

  // commands.cpp: true: the threads go on.
  bool obey(std::string_view packet);
  bool obey_query(std::string_view packet);
  bool obey_resume(std::string_view packet);
  void obey_transfer(std::string_view packet);
  void obey_memory(std::string_view packet);
  void obey_registers(std::string_view packet);
  void resume(ThreadId stepping, bool others, std::uint64_t low, std::uint64_t high);
  std::string thread_list();
  std::string library_list() const;
  std::string register_text(std::uint64_t number);
  Thread selected();
  ThreadState state_of(const Thread& thread) const { return {thread, registers_, system_}; }

  const Options options_;
  Connection connection_;
  PacketReader packets_;
  Threads threads_;
  CodeSpace codes_;
  TargetRegisters registers_;
  StopPoints points_;
  const execute::SystemMemory* system_ = nullptr;
  std::set<const loader::LoadedModule*> modules_;
  std::vector<DataSymbol> data_;     // not yet in a file
  std::size_t written_ = 0;          // codes that are in a file
  std::vector<std::string> images_;  // files, of which the first is GDB's program
  std::string folder_;               // with the files, if it is our own
  std::string symbols_;

  const sm::InFlight* current_ = nullptr;  // the instruction at whose beginning the threads stand
  SmThreads* current_sm_ = nullptr;
  Thread executed_;           // it has made the access at which it still seems to stand
  Stop stop_;                 // the last one
  std::optional<Stop> held_;  // to be reported when all threads may go on
  Resumption resumption_;
  ThreadId selected_ = 0;
  std::vector<ThreadId> followed_;  // that have stopped or stepped, the last one first
  std::string last_reply_;
  std::string transferred_;  // what GDB reads in pieces
  bool begun_ = false, left_ = false, killed_ = false, acknowledges_ = true;
  unsigned polls_ = 0;
};

}  // namespace weft::debugger

#endif
