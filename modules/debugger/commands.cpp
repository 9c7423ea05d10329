// What GDB's packets ask for (the GDB manual, appendix "GDB Remote Serial Protocol").
#include <algorithm>

#include "common/markup.h"
#include "debugger/debugger.h"

namespace weft::debugger {
namespace {

// "-1", "0" or a number. False: none of these.
bool take_thread(std::string_view& text, ThreadId& id) {
  id = 0;
  return take(text, "-1") || take_number(text, id);
}

// "ADDRESS,COUNT"
bool take_range(std::string_view& text, std::uint64_t& address, std::uint64_t& count) {
  return take_number(text, address) && take(text, ",") && take_number(text, count);
}

// Of vCont: "c", "s:1", "r4000,4010:2".
struct Action {
  bool steps = false;
  ThreadId thread = 0;  // 0: all that have no action of their own
  std::uint64_t low = 0, high = 0;
};

bool read_action(std::string_view text, Action& action) {
  const char kind = text.empty() ? '\0' : text[0];
  if (std::string_view("cCsSr").find(kind) == std::string_view::npos) return false;
  text.remove_prefix(1);
  action.steps = kind == 's' || kind == 'S' || kind == 'r';
  std::uint64_t signal = 0;  // no kernel has signals
  if ((kind == 'C' || kind == 'S') && !take_number(text, signal)) return false;
  if (kind == 'r' && !take_range(text, action.low, action.high)) return false;
  return text.empty() || (take(text, ":") && take_thread(text, action.thread) && text.empty());
}

}  // namespace

// Registers and memory of the thread that GDB has selected; one that has ended has none.
Thread Debugger::selected() {
  return threads_.find(selected_ != 0 ? selected_ : stop_.id);
}

bool Debugger::obey(std::string_view packet) {
  if (packet.empty()) {
    reply("");
    return false;
  }
  switch (packet[0]) {
    case '?':
      reply(text_of(stop_));
      return false;
    case 'g':
    case 'p':
    case 'P':
      obey_registers(packet);
      return false;
    case 'm':
    case 'M':
    case 'X':
      obey_memory(packet);
      return false;
    case 'H': {
      std::string_view rest = packet.substr(std::min<std::size_t>(2, packet.size()));
      ThreadId id = 0;
      const bool good = take_thread(rest, id);
      if (good && packet[1] == 'g') selected_ = id != 0 ? id : stop_.id;
      reply(good ? "OK" : "E01");
      return false;
    }
    case 'T': {
      std::string_view rest = packet.substr(1);
      ThreadId id = 0;
      const bool alive = take_thread(rest, id) && (threads_.find(id) || id == stop_.id);
      reply(alive ? "OK" : "E01");
      return false;
    }
    case 'Z':
      reply(points_.insert(packet.substr(1)) ? "OK" : "E01");
      return false;
    case 'z':
      reply(points_.remove(packet.substr(1)) ? "OK" : "E01");
      return false;
    case 'D':
      reply("OK");
      connection_.close();
      left_ = true;
      return true;
    case 'k':
      killed_ = true;
      connection_.close();
      return true;
    case 'q':
    case 'Q':
      return obey_query(packet);
    case 'v':
    case 'c':
    case 's':
    case 'C':
    case 'S':
      return obey_resume(packet);
    default:
      reply("");
      return false;
  }
}

bool Debugger::obey_query(std::string_view packet) {
  if (take(packet, "qSupported")) {
    reply("PacketSize=" + hex_number(PacketReader::kMostBytes) +
          ";QStartNoAckMode+;qXfer:features:read+;qXfer:threads:read+;qXfer:libraries:read+;qXfer:exec-file:"
          "read+;vContSupported+;"
          "hwbreak+;ConditionalBreakpoints+");
  } else if (packet == "QStartNoAckMode") {
    reply("OK");
    acknowledges_ = false;
  } else if (take(packet, "qXfer:")) {
    obey_transfer(packet);
  } else if (packet == "qC") {
    reply("QC" + hex_number(stop_.id));
  } else if (take(packet, "qAttached")) {
    reply("1");  // to be left alone at the end, not killed
  } else if (packet == "qfThreadInfo") {
    std::string list = "m";
    threads_.each([&](const Thread& thread) {
      list += (list.size() == 1 ? "" : ",") + hex_number(threads_.id_of(thread));
    });
    reply(list.size() == 1 ? "m" + hex_number(stop_.id) : list);
  } else if (packet == "qsThreadInfo") {
    reply("l");
  } else if (take(packet, "qThreadExtraInfo,")) {
    ThreadId id = 0;
    take_thread(packet, id);
    const Thread thread = threads_.find(id);
    reply(to_hex(thread ? Threads::place_of(thread) : std::string("has ended")));
  } else {
    reply("");
  }
  return false;
}

// "features:read:target.xml:OFFSET,LENGTH"
void Debugger::obey_transfer(std::string_view packet) {
  const bool features = take(packet, "features:read:target.xml:");
  const bool threads = !features && take(packet, "threads:read::");
  const bool libraries = !features && !threads && take(packet, "libraries:read::");
  const bool program = !features && !threads && !libraries && take(packet, "exec-file:read:");
  std::uint64_t process = 0;
  if (program) {
    take_number(packet, process);
    take(packet, ":");
  }
  std::uint64_t offset = 0, length = 0;
  if (!(features || threads || libraries || program) || !take_range(packet, offset, length))
    return reply("E00");
  // Asked for in pieces, of which the first decides.
  if (offset == 0) {
    transferred_ = features    ? registers_.description()
                   : threads   ? thread_list()
                   : libraries ? library_list()
                               : images_.front();
  }
  if (offset >= transferred_.size()) return reply("l");
  const std::string piece =
      transferred_.substr(offset, std::min<std::uint64_t>(length, PacketReader::kMostBytes / 2));
  reply((offset + piece.size() < transferred_.size() ? "m" : "l") + piece);
}

std::string Debugger::thread_list() {
  std::string text = "<?xml version=\"1.0\"?><threads>";
  bool has_stopped = false;
  threads_.each([&](const Thread& thread) {
    const ThreadId id = threads_.id_of(thread);
    has_stopped = has_stopped || id == stop_.id;
    text += "<thread id=\"" + hex_number(id) + "\" core=\"" + std::to_string(thread.sm->number()) + "\">" +
            Threads::place_of(thread) + "</thread>";
  });
  if (!has_stopped) text += "<thread id=\"" + hex_number(stop_.id) + "\">has ended</thread>";
  return text + "</threads>";
}

std::string Debugger::library_list() const {
  std::string text = "<library-list>";
  for (std::size_t i = 1; i < images_.size(); ++i) {
    // The address is what is added to those in the file.
    text += "<library name=\"" + as_markup(images_[i]) + "\"><section address=\"0x0\"/></library>";
  }
  return text + "</library-list>";
}

std::string Debugger::register_text(std::uint64_t number) {
  const TargetRegister* const one = registers_.find(number);
  const unsigned bytes = one == nullptr ? 8 : one->bytes;
  const Thread thread = selected();
  std::optional<std::uint64_t> value;
  if (thread) {
    value = state_of(thread).register_value(number);
  } else if (number == kPcRegister) {
    value = kThreadEnded;
  } else if (number == kStackRegister) {
    value = 0;
  }
  if (!value.has_value()) return std::string(2 * std::size_t{bytes}, 'x');
  return to_hex(&*value, bytes);
}

// GDB asks for those beyond RISC-V's one by one, and only for those that it needs.
void Debugger::obey_registers(std::string_view packet) {
  const char command = packet[0];
  packet.remove_prefix(1);
  if (command == 'g') {
    std::string all;
    for (unsigned number = 0; number < kCoreRegisters; ++number) all += register_text(number);
    return reply(all);
  }
  std::uint64_t number = 0;
  if (!take_number(packet, number) || (number >= kCoreRegisters && registers_.find(number) == nullptr))
    return reply("E01");
  if (command == 'p') return reply(register_text(number));
  const Thread thread = selected();
  std::string bytes;
  if (!thread || !take(packet, "=") || !from_hex(packet, bytes) || bytes.size() > 8) return reply("E01");
  std::uint64_t value = 0;
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(&value));
  reply(state_of(thread).write_register(number, value) ? "OK" : "E01");
}

void Debugger::obey_memory(std::string_view packet) {
  const char command = packet[0];
  packet.remove_prefix(1);
  std::uint64_t address = 0, count = 0;
  if (!take_range(packet, address, count) || count > PacketReader::kMostBytes) return reply("E01");
  const Thread thread = selected();
  if (command == 'm') {
    count = std::min<std::uint64_t>(count, PacketReader::kMostBytes / 2 - 1);
    std::string bytes;
    for (std::uint64_t at = address; codes_.contains(at) && bytes.size() < count; ++at)
      bytes += static_cast<char>(kNop >> at % kInstructionBytes * 8);
    if (bytes.empty() && thread) bytes = state_of(thread).read(address, count);
    return reply(bytes.empty() && count != 0 ? "E01" : to_hex(bytes));
  }
  std::string bytes;
  if (!take(packet, ":")) return reply("E01");
  if (command == 'X') {
    bytes = packet;
  } else if (!from_hex(packet, bytes)) {
    return reply("E01");
  }
  const bool good =
      bytes.size() == count && (bytes.empty() || (thread && state_of(thread).write(address, bytes)));
  reply(good ? "OK" : "E01");
}

// A thread that steps is at addresses outside of [low, high) when it has done so.
void Debugger::resume(ThreadId stepping, bool others, std::uint64_t low, std::uint64_t high) {
  resumption_ = {others, stepping, low, high, true, false};
  if (stepping != 0) follow(stepping);
  if (others) points_.all_go_on();
  if (stepping == 0) return;
  resumption_.over = !threads_.find(stepping);  // no step is left to it
  if (current_ == nullptr) return;
  resumption_.passes = !stepping_in(*current_sm_, *current_);
}

bool Debugger::obey_resume(std::string_view packet) {
  if (packet[0] != 'v') {  // c, s, C05, S05: of the thread that has stopped
    resume(packet[0] == 's' || packet[0] == 'S' ? stop_.id : 0, true, 0, 0);
    return true;
  }
  if (packet == "vCont?") {
    reply("vCont;c;C;s;S;r");
    return false;
  }
  if (take(packet, "vKill")) {
    reply("OK");
    killed_ = true;
    connection_.close();
    return true;
  }
  if (!take(packet, "vCont") || packet.empty() || packet[0] != ';') {
    reply("");
    return false;
  }
  ThreadId stepping = 0;
  bool others = false;
  std::uint64_t low = 0, high = 0;
  while (take(packet, ";")) {
    const std::string_view action = packet.substr(0, std::min(packet.find(';'), packet.size()));
    packet.remove_prefix(action.size());
    Action wanted;
    if (!read_action(action, wanted)) {
      reply("E01");
      return false;
    }
    if (wanted.steps && stepping == 0) {
      stepping = wanted.thread != 0 ? wanted.thread : stop_.id;
      low = wanted.low;
      high = wanted.high;
    } else if (wanted.thread == 0) {
      others = true;
    }
  }
  resume(stepping, others || stepping == 0, low, high);
  return true;
}

}  // namespace weft::debugger
