#include "soc/qemu_device.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <sstream>

#include "bus/payload_data.h"
#include "weft/common/error.h"

namespace weft::soc {

using sc_core::sc_time;

namespace {

enum Command : std::int32_t {
  kSyncMemory,
  kReturn,
  kConfigWrite,
  kConfigRead,
  kBarWrite,
  kBarRead,
  kSetInterrupt,
  kDeviceReset
};
struct ConfigAccess {
  std::uint32_t address, value;
  std::int32_t bytes;
};
struct BarAccess {
  std::uint64_t address, value;
  std::uint32_t bytes;
  std::uint8_t memory;
  std::uint8_t reserved[3];
};
constexpr std::size_t kMostRegions = 8;
struct Memory {
  std::uint64_t addresses[kMostRegions], bytes[kMostRegions], offsets[kMostRegions];
};

// PCI Local Bus Specification 3.0, 6.1: offsets in the configuration space.
enum : std::uint32_t {
  kVendor = 0x0,
  kDevice = 0x2,
  kCommand = 0x4,
  kClass = 0x9,
  kBar0 = 0x10,
  kPin = 0x3d
};
constexpr int kIdleMilliseconds = 10;  // of real time, for a step of simulated time
constexpr int kNotFound = 127;         // exit code of a process that cannot become QEMU
constexpr std::uint16_t kVendorWeft = 0x5745, kDeviceGpu = 0x4654;

// QEMU would read anything else for ever.
void check_file(const std::string& path) {
  struct stat status = {};
  if (access(path.c_str(), R_OK) != 0 || stat(path.c_str(), &status) != 0)
    throw InputError(path, std::string("cannot be read: ") + std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    throw InputError(path, "is a directory, a pipe or a device; allowed: a file with an image of the guest");
}

// A comma ends an option of QEMU's command line; two stand for one.
std::string doubled(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == ',' ? std::string(2, c) : std::string(1, c);
  return result;
}

template <class T>
T content_as(const std::array<unsigned char, 256>& content) {
  T value;
  std::memcpy(&value, content.data(), sizeof value);
  return value;
}

}  // namespace

void QemuDevice::Config::describe(config::Visitor& v) {
  v.text("program", program, "QEMU");
  v.integer("ram_mib", ram_mib, {96, 2048}, "MiB", "memory of the guest");
  v.real("step_ns", step_ns, {1, 1e6}, "ns", "simulated time between two polls for messages");
  v.text("arguments", arguments, "further words of QEMU's command line, separated by blanks");
  v.text("kernel_arguments", kernel_arguments, "words of the command line of the guest's kernel");
  v.integer("pool_mib", pool_mib, {0, 1024}, "MiB",
            "end of the guest's memory, which its kernel leaves to the GPU's driver");
  v.real("boot_seconds", boot_seconds, {0, 3600}, "s",
         "real time in which a guest must have asked for the GPU's registers; 0: no limit");
  v.boolean("doorbells", doorbells,
            "a second PCI device (ivshmem-doorbell): interrupts without KVM, and all of device memory");
}

void QemuDevice::Config::check(const std::string& where) const {
  constexpr std::uint64_t kLeastOfKernel = 96;
  if (pool_mib + kLeastOfKernel > ram_mib) {
    throw InputError(where + "/pool_mib", "found " + std::to_string(pool_mib) + "; allowed: up to " +
                                              std::to_string(ram_mib - kLeastOfKernel) + ", so that " +
                                              std::to_string(kLeastOfKernel) +
                                              " MiB of ram_mib are left to the guest's kernel");
  }
}

QemuDevice::QemuDevice(sc_core::sc_module_name name, const Config& config, const std::array<Bar, 2>& bars)
    : sc_module(name), socket("socket"), memory("memory"), config_(config), bars_(bars) {
  const auto put16 = [&](std::uint32_t offset, std::uint16_t value) {
    std::memcpy(config_space_.data() + offset, &value, sizeof value);
  };
  put16(kVendor, kVendorWeft);
  put16(kDevice, kDeviceGpu);
  config_space_[kClass + 1] = 0x02;  // 3D controller
  config_space_[kClass + 2] = 0x03;  // display
  config_space_[kPin] = 1;
  memory.register_nb_transport_fw(this, &QemuDevice::forward);
  memory.register_b_transport(this, &QemuDevice::blocking);
  memory.register_get_direct_mem_ptr(this, &QemuDevice::dmi);
  memory.register_transport_dbg(this, &QemuDevice::debug);
  SC_THREAD(run);
}

QemuDevice::~QemuDevice() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  if (link_ >= 0) close(link_);
  forget_memory();
}

void QemuDevice::bind(statistics::Group& group) {
  group.counter("reads", units::kTransactions, "reads of BARs", reads_);
  group.counter("writes", units::kTransactions, "writes to BARs", writes_);
  group.counter("errors", units::kTransactions, "reads and writes that were refused", errors_);
  group.counter("interrupts", units::kRequests, "interrupt requests to the guest (doorbells)", interrupts_);
}

void QemuDevice::share(int device_memory, unsigned interrupts) {
  if (config_.doorbells) doorbells_ = std::make_unique<QemuDoorbells>(device_memory, interrupts);
}

void QemuDevice::interrupt(unsigned number) {
  ++interrupts_;
  doorbells_->ring(number);
}

double QemuDevice::seconds() const {
  return std::chrono::duration<double>((process_ > 0 ? Clock::now() : stopped_) - began_).count();
}

std::vector<std::string> QemuDevice::command_line(const Guest& guest, int link) const {
  const std::string ram = std::to_string(config_.ram_mib) + "M";
  std::vector<std::string> words{config_.program,
                                 "-machine",
                                 "pc,accel=tcg,memory-backend=ram",
                                 "-m",
                                 ram,
                                 "-object",
                                 "memory-backend-memfd,id=ram,share=on,size=" + ram,
                                 "-nodefaults",
                                 "-no-user-config",
                                 "-display",
                                 "none",
                                 "-serial",
                                 "stdio",
                                 "-device",
                                 "isa-debug-exit,iobase=0xf4,iosize=4",
                                 "-device",
                                 "x-pci-proxy-dev,fd=" + std::to_string(link),
                                 "-kernel",
                                 guest.image};
  const auto add = [&words](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  std::ostringstream append(config_.kernel_arguments, std::ios::ate);
  if (config_.pool_mib != 0) {
    const std::uint64_t base = (config_.ram_mib - config_.pool_mib) << 20, bytes = config_.pool_mib << 20;
    append << " memmap=" << bytes << '$' << base << " weft.pool_base=" << base
           << " weft.pool_bytes=" << bytes;
  }
  if (!append.str().empty()) add({"-append", append.str()});
  if (!guest.initrd.empty()) add({"-initrd", guest.initrd});
  for (const auto& [name, content] : guest.files)
    add({"-fw_cfg", "name=" + name + ",string=" + doubled(content)});
  if (doorbells_ != nullptr) {
    for (const std::string& word : doorbells_->arguments()) words.push_back(word);
  }
  std::istringstream further(config_.arguments);
  for (std::string word; further >> word;) words.push_back(word);
  return words;
}

void QemuDevice::start(const Guest& guest) {
  for (const std::string& file : {guest.image, guest.initrd}) {
    if (!file.empty()) check_file(file);
  }
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    throw InputError("QEMU", std::strerror(errno));
  std::vector<std::string> words = command_line(guest, pair[1]);
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  began_ = Clock::now();
  process_ = fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fcntl(pair[1], F_SETFD, 0);  // with that of the doorbells, all that QEMU inherits
    if (doorbells_ != nullptr) fcntl(doorbells_->inherited(), F_SETFD, 0);
    execvp(pointers[0], pointers.data());
    _exit(kNotFound);
  }
  close(pair[1]);
  if (doorbells_ != nullptr) doorbells_->started();
  link_ = pair[0];
  if (process_ < 0) throw InputError("QEMU", std::strerror(errno));
}

bool QemuDevice::message_waits(int timeout_ms) const {
  pollfd poll_for{link_, POLLIN, 0};
  return poll(&poll_for, 1, timeout_ms) > 0;
}

bool QemuDevice::receive_bytes(void* to, std::size_t bytes, std::vector<int>* descriptors) {
  auto* at = static_cast<unsigned char*>(to);
  while (bytes != 0) {
    iovec part{at, bytes};
    alignas(cmsghdr) unsigned char control[CMSG_SPACE(sizeof(int) * kMostRegions)];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t got = recvmsg(link_, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    for (cmsghdr* rights = CMSG_FIRSTHDR(&message); rights != nullptr;
         rights = CMSG_NXTHDR(&message, rights)) {
      if (rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int descriptor;
        std::memcpy(&descriptor, CMSG_DATA(rights) + i * sizeof(int), sizeof descriptor);
        if (descriptors != nullptr) {
          descriptors->push_back(descriptor);
        } else {
          close(descriptor);
        }
      }
    }
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool QemuDevice::reply(std::uint64_t value) {
  const struct {
    Header header;
    std::uint64_t value;
  } message{{kReturn, 0, sizeof value}, value};
  return send(link_, &message, sizeof message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof message);
}

void QemuDevice::forget_memory() {
  for (const Region& region : regions_) munmap(region.host, region.bytes);
  regions_.clear();
}

void QemuDevice::share_memory(const std::vector<int>& descriptors) {
  const auto layout = content_as<Memory>(content_);
  memory->invalidate_direct_mem_ptr(0, ~sc_dt::uint64{0});
  forget_memory();
  for (std::size_t i = 0; i < std::min(descriptors.size(), kMostRegions); ++i) {
    if (layout.bytes[i] == 0) continue;
    void* mapped = mmap(nullptr, layout.bytes[i], PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[i],
                        static_cast<off_t>(layout.offsets[i]));
    if (mapped != MAP_FAILED)
      regions_.push_back({layout.addresses[i], layout.bytes[i], static_cast<unsigned char*>(mapped)});
  }
}

std::uint64_t QemuDevice::read_config(std::uint32_t address, unsigned bytes) const {
  std::uint64_t value = 0;
  if (bytes <= 4 && address + bytes <= config_space_.size())
    std::memcpy(&value, config_space_.data() + address, bytes);
  return value;
}

void QemuDevice::write_config(std::uint32_t address, std::uint32_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes && i < 4 && address + i < config_space_.size(); ++i) {
    const std::uint32_t at = address + i;
    const auto byte = static_cast<unsigned char>(value >> (8 * i));
    unsigned char writable = 0;
    if (at == kCommand || at == 0x3c) writable = 0xff;
    if (at == kCommand + 1) writable = 0x07;
    if (at >= kBar0 && at < kBar0 + 4 * bars_.size()) {
      const std::uint32_t mask = ~(bars_[(at - kBar0) / 4].bytes - 1);
      writable = static_cast<unsigned char>(mask >> (8 * (at % 4)));
    }
    config_space_[at] = static_cast<unsigned char>((config_space_[at] & ~writable) | (byte & writable));
  }
}

std::uint64_t QemuDevice::access_bar(bool write, std::uint64_t address, std::uint64_t value, unsigned bytes) {
  ++(write ? writes_ : reads_);
  for (unsigned i = 0; i < bars_.size() && bytes <= 8; ++i) {
    const std::uint64_t base = read_config(kBar0 + 4 * i, 4);
    if (address < base || address + bytes > base + bars_[i].bytes) continue;
    tlm::tlm_generic_payload payload;
    payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(bars_[i].address + (address - base));
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    sc_time delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(payload, delay);
    wait(delay);
    if (payload.is_response_ok()) return value;
    break;
  }
  ++errors_;
  return ~std::uint64_t{0};  // as PCI: all ones
}

bool QemuDevice::answer() {
  const auto whole = [this](std::size_t bytes) { return header_.bytes == bytes; };
  switch (header_.command) {
    case kConfigRead: {
      const auto access = content_as<ConfigAccess>(content_);
      return whole(sizeof access) && reply(read_config(access.address, static_cast<unsigned>(access.bytes)));
    }
    case kConfigWrite: {
      const auto access = content_as<ConfigAccess>(content_);
      write_config(access.address, access.value, static_cast<unsigned>(access.bytes));
      return whole(sizeof access) && reply(0);
    }
    case kBarRead:
    case kBarWrite: {
      const auto access = content_as<BarAccess>(content_);
      return whole(sizeof access) &&
             reply(access_bar(header_.command == kBarWrite, access.address, access.value, access.bytes));
    }
    case kDeviceReset:
      // The first is of power-on.
      if (++resets_ > 1) end_with("the guest has restarted, as after a panic of its kernel");
      return reply(0);
    case kSetInterrupt:
    case kSyncMemory:
      return true;
    default:
      return false;
  }
}

bool QemuDevice::receive() {
  std::vector<int> descriptors;
  content_.fill(0);
  bool good = receive_bytes(&header_, sizeof header_, &descriptors) && header_.bytes <= content_.size() &&
              receive_bytes(content_.data(), header_.bytes, &descriptors);
  if (good && header_.command == kSyncMemory && header_.bytes == sizeof(Memory)) share_memory(descriptors);
  for (const int descriptor : descriptors) close(descriptor);
  heard_ = heard_ || good;
  return good && answer();
}

// QEMU has gone: how?
void QemuDevice::reap() {
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  stopped_ = Clock::now();
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (!fault_.empty()) {
    // It was ended from here.
  } else if (code == kNotFound) {
    fault_ = config_.program + " is not there; `./weft packages qemu` installs it";
  } else if (code == 0) {
    exit_code_ = 0;  // the guest has powered off
  } else if (code % 2 == 1 && heard_) {
    exit_code_ = code / 2;  // isa-debug-exit: the program's code, doubled, plus one
  } else if (code > 0) {
    fault_ = config_.program + " ended with code " + std::to_string(code) +
             (heard_ ? "" : " before it asked for the GPU");
  } else {
    fault_ = config_.program + " was killed by signal " + std::to_string(WTERMSIG(status));
    if (WTERMSIG(status) == SIGSEGV && !heard_) {
      fault_ +=
          " before it asked for the GPU; known: QEMU 7.2 (Debian 12) works, QEMU 10 (Debian 13) crashes, "
          "because "
          "its x-pci-proxy-dev needs KVM";
    }
  }
  ended_.notify(sc_core::SC_ZERO_TIME);
}

void QemuDevice::end_with(const std::string& fault) {
  fault_ = fault;
  kill(process_, SIGKILL);
}

bool QemuDevice::boots_too_long() const {
  return config_.boot_seconds != 0 && reads_ + writes_ == 0 && fault_.empty() &&
         seconds() > config_.boot_seconds;
}

void QemuDevice::run() {
  if (process_ <= 0) return;
  for (;;) {
    // While the simulation has nothing to do, the guest gets the processor. What happens later than the next
    // step, such as a look of the watchdog, is nothing to do: simulated time would run to it at once.
    const sc_time step(config_.step_ns, sc_core::SC_NS);
    const bool busy = sc_core::sc_pending_activity() && sc_core::sc_time_to_pending_activity() <= step;
    if (message_waits(busy ? 0 : kIdleMilliseconds)) {
      if (!receive()) break;
    } else if (give_up_ && give_up_()) {
      kill(process_, SIGTERM);
    } else if (boots_too_long()) {
      std::ostringstream text;
      text << "the guest did not ask for the GPU's registers within " << config_.boot_seconds
           << " s (cpu.qemu.boot_seconds)";
      end_with(text.str());
    } else {
      wait(step);
    }
  }
  reap();
}

// --- the guest's memory

const QemuDevice::Region* QemuDevice::find(std::uint64_t address, std::uint64_t bytes) const {
  for (const Region& region : regions_) {
    if (address >= region.base && address - region.base < region.bytes &&
        bytes <= region.bytes - (address - region.base))
      return &region;
  }
  return nullptr;
}

void QemuDevice::blocking(tlm::tlm_generic_payload& payload, sc_time& delay) {
  delay += sc_time(100, sc_core::SC_NS);
  const Region* region = find(payload.get_address(), payload.get_data_length());
  if (region == nullptr) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  move_data(payload, region->host + (payload.get_address() - region->base));
  payload.set_dmi_allowed(true);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

tlm::tlm_sync_enum QemuDevice::forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  blocking(payload, delay);
  return tlm::TLM_COMPLETED;
}

bool QemuDevice::dmi(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& granted) {
  const Region* region = find(payload.get_address(), 1);
  if (region == nullptr) return false;
  granted.allow_read_write();
  granted.set_dmi_ptr(region->host);
  granted.set_start_address(region->base);
  granted.set_end_address(region->base + (region->bytes - 1));
  return true;
}

unsigned QemuDevice::debug(tlm::tlm_generic_payload& payload) {
  const Region* region = find(payload.get_address(), payload.get_data_length());
  if (region == nullptr || payload.get_data_ptr() == nullptr) return 0;
  move_data(payload, region->host + (payload.get_address() - region->base));
  return payload.get_data_length();
}

}  // namespace weft::soc
