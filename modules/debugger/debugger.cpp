#include "debugger/debugger.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#include "weft/common/error.h"

namespace weft::debugger {
namespace {

namespace fs = std::filesystem;

constexpr int kWaitMilliseconds = 200;
constexpr unsigned kIssuesBetweenPolls = 64;
constexpr std::size_t kMostKernels = 256;  // of a module, all of which are decoded

// Numbers of signals in packets (gdb/signals.def).
enum Signal : unsigned { kInterrupt = 2, kIllegal = 4, kTrap = 5, kAbort = 6, kSegmentation = 11 };

unsigned signal_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::kTrap:
      return kTrap;
    case FaultKind::kInvalidPc:
    case FaultKind::kIllegalInstruction:
      return kIllegal;
    case FaultKind::kAssert:
    case FaultKind::kHang:
    case FaultKind::kStopped:
      return kAbort;
    default:
      return kSegmentation;
  }
}

Thread first_of(SmThreads& sm, const sm::InFlight& flight) {
  const warp_formation::ThreadGroup& group = flight.groups[0];
  return sm.thread_at(flight.slot, group.chunk, static_cast<unsigned>(__builtin_ctz(group.mask)));
}

}  // namespace

Debugger::Debugger(Options options) : options_(std::move(options)), connection_(options_.port) {
  symbols_ = options_.symbols;
  if (!symbols_.empty()) {
    std::ofstream file(symbols_, std::ios::binary);
    if (!file) throw InputError("--gdb-symbols", "'" + symbols_ + "' cannot be written");
    return;
  }
  std::string pattern = (fs::temp_directory_path() / "weft-gdb-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw InputError("--gdb", "no folder for symbols can be made: " + pattern);
  folder_ = pattern;
  symbols_ = folder_ + "/kernels.elf";
}

Debugger::~Debugger() {
  remove_folder();
}

void Debugger::remove_folder() {
  std::error_code error;
  if (!folder_.empty()) fs::remove_all(folder_, error);
  folder_.clear();
}

void Debugger::launching(loader::LoadedModule& module, const std::shared_ptr<const ptx::Program>& program) {
  if (left_) return;
  const auto add = [&](const std::shared_ptr<const ptx::Program>& one) {
    if (codes_.find(*one) == nullptr) registers_.add(codes_.add(one, module.registers_of(*one)));
  };
  if (modules_.insert(&module).second) {
    for (const auto& variable : module.placed())
      data_.push_back({variable.name, variable.address, variable.bytes});
    for (std::size_t k = 0; k < std::min(module.kernels().size(), kMostKernels); ++k) {
      try {
        add(module.program(module.kernels()[k]));
      } catch (const InputError&) {
        continue;  // one that cannot be executed, and is not launched
      }
    }
  }
  add(program);
}

void Debugger::kernel_started(SmThreads& sm, const execute::Kernel& kernel) {
  sm.code = codes_.find(kernel.program);
  if (sm.code == nullptr) sm.code = &codes_.add(kernel.table->program, {});
}

// A file for what has been launched since the last one. GDB takes the first as the program, and others as
// libraries.
void Debugger::write_images() {
  std::vector<const Code*> codes;
  for (; written_ < codes_.all().size(); ++written_) codes.push_back(codes_.all()[written_].get());
  const bool first = images_.empty();
  std::string file = symbols_;
  if (!first) file += "." + std::to_string(images_.size() + 1);
  images_.push_back(fs::absolute(file).string());
  std::ofstream out(file + ".new", std::ios::binary);
  out << debug_image(codes, data_, fs::current_path().string(), first);
  out.close();
  std::error_code error;
  if (out) fs::rename(file + ".new", file, error);  // whole, whoever waits for it
  if (!out || error) std::cerr << "weft: --gdb-symbols: '" << file << "' cannot be written\n";
  data_.clear();
}

bool Debugger::connect() {
  std::cerr << "weft: waits for gdb; type in another terminal: gdb-multiarch -ex 'target remote 127.0.0.1:"
            << connection_.port() << "'" << std::endl;
  while (!connection_.accept(kWaitMilliseconds)) {
    if (options_.interrupted && options_.interrupted()) return false;
  }
  return true;
}

void Debugger::begin(const Thread& first) {
  begun_ = true;
  write_images();
  if (!connect()) return leave(nullptr);
  // GDB asks for the stop by itself.
  stop_ = {kTrap, threads_.id_of(first), {}, 0};
  selected_ = stop_.id;
  serve();
}

// The thread of that number, if it is among those of the instruction.
Thread Debugger::among(SmThreads& sm, const sm::InFlight& flight, ThreadId id) {
  const Thread thread = id == 0 ? Thread() : threads_.find(id);
  if (thread.sm != &sm) return {};
  for (const auto& group : flight.all()) {
    if (group.chunk == thread.chunk && (group.mask >> thread.lane & 1) != 0) return thread;
  }
  return {};
}

Thread Debugger::stepping_in(SmThreads& sm, const sm::InFlight& flight) {
  return among(sm, flight, resumption_.stepping);
}

// GDB may wait for a certain thread at a breakpoint: for one that it has dealt with.
void Debugger::follow(ThreadId id) {
  constexpr std::size_t kMost = 8;
  followed_.erase(std::remove(followed_.begin(), followed_.end(), id), followed_.end());
  followed_.insert(followed_.begin(), id);
  if (followed_.size() > kMost) followed_.pop_back();
}

bool Debugger::step_is_over(const Thread& thread) {
  if (resumption_.passes) {
    resumption_.passes = false;
    return false;
  }
  const std::uint64_t address = Threads::address_of(thread);
  return address < resumption_.low || address >= resumption_.high;
}

// A thread of the instruction for which a breakpoint's condition holds: one that is followed, else the first.
Thread Debugger::at_breakpoint(SmThreads& sm, const sm::InFlight& flight) {
  if (!points_.any_code()) return {};
  const auto* const conditions = points_.code(sm.code->address_of(flight.pc), !resumption_.others);
  if (conditions == nullptr) return {};
  // As the manual has it, an expression that fails stops the thread.
  const auto holds = [&](const Thread& thread) {
    const ThreadState state = state_of(thread);
    return conditions->empty() ||
           std::any_of(conditions->begin(), conditions->end(),
                       [&](const AgentExpression& one) { return one.value(state).value_or(1) != 0; });
  };
  for (const ThreadId id : followed_) {
    const Thread thread = among(sm, flight, id);
    if (thread && holds(thread)) return thread;
  }
  for (const auto& group : flight.all()) {
    for (std::uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
      const Thread thread =
          sm.thread_at(flight.slot, group.chunk, static_cast<unsigned>(__builtin_ctz(rest)));
      if (holds(thread)) return thread;
    }
  }
  return {};
}

bool Debugger::user_interrupts() {
  if (++polls_ % kIssuesBetweenPolls != 0) return false;
  receive();
  if (!connection_.open()) {
    leave("gdb is gone");
    return false;
  }
  bool wants = false;
  for (PacketEvent event; packets_.next(event);) wants = wants || event.kind == PacketEvent::Kind::kInterrupt;
  return wants;
}

// The launch ends as if the SM had found a fault.
void Debugger::kill(SmThreads& sm) {
  left_ = true;
  sm.core().fault({FaultKind::kStopped, "killed from gdb"});
}

void Debugger::issuing(SmThreads& sm, const sm::InFlight& flight) {
  if (killed_) return kill(sm);
  current_ = &flight;
  current_sm_ = &sm;
  const Thread first = first_of(sm, flight);
  if (!begun_) {
    begin(first);
  } else {
    const bool interrupts = user_interrupts();
    if (left_) return;
    // Before anything else: a breakpoint may wait for the new code.
    if (written_ < codes_.all().size() && resumption_.others) {
      write_images();
      halt({kTrap, threads_.id_of(first), "library:;", 0});
      if (left_) return;
      if (killed_) return kill(sm);
    }
    const Thread stepping = stepping_in(sm, flight);
    const Thread stopping = at_breakpoint(sm, flight);
    if (interrupts) {
      halt({kInterrupt, stepping ? threads_.id_of(stepping) : threads_.id_of(first), {}, 0});
    } else if (stepping && step_is_over(stepping)) {
      halt({kTrap, threads_.id_of(stepping), {}, 0});
    } else if (stopping && !(stepping && !resumption_.others)) {
      const std::uint64_t address = sm.code->address_of(flight.pc);
      halt({kTrap, threads_.id_of(stopping), "hwbreak:;", address});
    }
  }
  current_ = nullptr;
  if (killed_) return kill(sm);
  // Threads that end have no further instruction at which the step could be over.
  const Thread stepping = left_ ? Thread() : stepping_in(sm, flight);
  if (!stepping || !flight.op->instruction->is_exit()) return;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    if (flight.groups[g].chunk == stepping.chunk && (flight.executing[g] >> stepping.lane & 1) != 0)
      resumption_.over = true;
  }
}

void Debugger::stepped(SmThreads& /*sm*/) {
  if (resumption_.over && !killed_) halt({kTrap, resumption_.stepping, {}, 0});
}

void Debugger::accessed(SmThreads& sm, const sm::InFlight& flight, const execute::LaneAccess* accesses,
                        unsigned count) {
  if (points_.watchpoints().empty() || killed_) return;
  const ptx::Opcode op = flight.op->instruction->op;
  const machine::AddressWindows& map = sm.kernel()->addresses;
  for (unsigned i = 0; i < count; ++i) {
    const execute::LaneAccess& lanes = accesses[i];
    const bool shared = lanes.space == ptx::Space::kShared;
    if (!shared && lanes.space != ptx::Space::kGlobal && lanes.space != ptx::Space::kConst) continue;
    const bool copy = op == ptx::Opcode::kCopyAsync;
    const bool atomic = op == ptx::Opcode::kAtom || op == ptx::Opcode::kRed;
    const bool writes = op == ptx::Opcode::kSt || atomic || (copy && shared);
    const bool reads = op == ptx::Opcode::kLd || atomic || (copy && !shared);
    for (std::uint32_t rest = lanes.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      const std::uint64_t address = lanes.address[lane] + (shared ? map.shared_base : map.device_base);
      const Watchpoint* const hit = points_.watched(address, lanes.bytes, reads, writes);
      if (hit == nullptr) continue;
      return halt_at_access(sm.thread_at(flight.slot, lanes.chunk, lane), flight.pc, *hit, address);
    }
  }
}

// GDB takes RISC-V for an architecture that stops before the access: it lets the thread make a step alone,
// and then looks for a change. The step is over at once.
void Debugger::halt_at_access(const Thread& thread, ptx::Pc pc, const Watchpoint& hit,
                              std::uint64_t address) {
  using Kind = Watchpoint::Kind;
  const char* const word = hit.kind == Kind::kWrite ? "watch" : hit.kind == Kind::kRead ? "rwatch" : "awatch";
  thread.sm->stand(thread, pc);
  executed_ = thread;
  halt({kTrap, threads_.id_of(thread), word + (":" + hex_number(std::max(address, hit.address)) + ";"), 0});
  executed_ = {};
  thread.sm->stand(thread, pc + 1);
}

void Debugger::faulted(SmThreads& sm, const Fault& why) {
  if (!begun_ || killed_) return;
  Thread thread = Threads::find(sm, why.place);
  if (thread && why.place.pc != FaultPlace::kNoPc) {
    sm.stand(thread, why.place.pc);
  } else {
    thread = threads_.any();
  }
  say(why.text + "\n");
  if (thread) halt({signal_of(why.kind), threads_.id_of(thread), {}, 0});
}

void Debugger::hung(const std::string& why) {
  if (!begun_ || left_ || killed_) return;
  say(why + "\n");
  const Thread thread = threads_.any();
  if (thread) halt({kAbort, threads_.id_of(thread), {}, 0});
}

void Debugger::ended(int exit_code) {
  if (!begun_ && !left_)
    std::cerr << "weft: --gdb: no kernel ran with timing, so that gdb was not waited for\n";
  if (begun_ && !left_ && connection_.open()) {
    const auto code = static_cast<std::uint8_t>(exit_code);
    reply("W" + to_hex(&code, 1));
  }
  connection_.close();
  left_ = true;
  remove_folder();
}

void Debugger::halt(Stop stop) {
  // While one thread steps alone GDB expects no word of others. What it executes has been executed.
  const bool alone = !resumption_.others && stop.id != resumption_.stepping;
  if (alone) {
    held_ = std::move(stop);
    stop = {kTrap, resumption_.stepping, {}, 0};
  }
  while (true) {
    tell(stop);
    if (!serve()) return;
    if (executed_ && !resumption_.others && resumption_.stepping == threads_.id_of(executed_)) {
      executed_.sm->stand(executed_, executed_.sm->pc(executed_) + 1);
      stop = {kTrap, resumption_.stepping, {}, 0};
      executed_ = {};
      continue;
    }
    if (!held_.has_value()) return;
    Stop held = std::move(*held_);
    held_.reset();
    if (!resumption_.others || (held.breakpoint != 0 && points_.code(held.breakpoint, false) == nullptr))
      return;
    stop = std::move(held);
  }
}

bool Debugger::serve() {
  if (!connection_.open()) {
    leave("gdb is gone");
    return false;
  }
  while (true) {
    for (PacketEvent event; packets_.next(event);) {
      switch (event.kind) {
        case PacketEvent::Kind::kPacket:
          if (acknowledges_) connection_.send("+");
          if (obey(event.payload)) return !left_ && !killed_;
          break;
        case PacketEvent::Kind::kDamaged:
          connection_.send("-");
          break;
        case PacketEvent::Kind::kRepeat:
          connection_.send(last_reply_);
          break;
        default:
          break;
      }
    }
    char bytes[4096];
    packets_.feed(bytes, connection_.receive(bytes, sizeof bytes, kWaitMilliseconds));
    if (!connection_.open()) {
      leave("gdb is gone");
      return false;
    }
    if (options_.interrupted && options_.interrupted()) {
      leave(nullptr);
      return false;
    }
  }
}

void Debugger::leave(const char* why) {
  if (why != nullptr) std::cerr << "weft: " << why << "; the run goes on without it" << std::endl;
  connection_.close();
  left_ = true;
}

void Debugger::receive() {
  char bytes[4096];
  packets_.feed(bytes, connection_.receive(bytes, sizeof bytes, 0));
}

void Debugger::reply(std::string_view payload) {
  last_reply_ = packet_of(payload);
  connection_.send(last_reply_);
}

void Debugger::say(const std::string& text) {
  if (!left_) reply("O" + to_hex(text));
}

void Debugger::tell(const Stop& stop) {
  stop_ = stop;
  selected_ = stop.id;
  follow(stop.id);
  reply(text_of(stop));
}

std::string Debugger::text_of(const Stop& stop) {
  const auto signal = static_cast<std::uint8_t>(stop.signal);
  const auto number_of = [](unsigned number) { return hex_number(number) + ":"; };
  return "T" + to_hex(&signal, 1) + stop.reason + number_of(kPcRegister) + register_text(kPcRegister) + ";" +
         number_of(kStackRegister) + register_text(kStackRegister) + ";thread:" + hex_number(stop.id) + ";";
}

}  // namespace weft::debugger
