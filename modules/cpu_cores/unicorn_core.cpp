#include "cpu_cores/unicorn_core.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "common/hex.h"

namespace weft::cpu_cores {

UnicornCore::UnicornCore(uc_arch architecture, uc_mode mode, int pc_register, std::uint32_t wait_opcode)
    : pc_register_(pc_register), wait_opcode_(wait_opcode) {
  check(uc_open(architecture, mode, &engine_), "opening Unicorn");
  const auto hook = [this](int kind, void* callback) {
    uc_hook handle = 0;
    // An empty range (1 to 0) stands for every address.
    check(uc_hook_add(engine_, &handle, kind, callback, this, 1, 0), "adding a hook");
  };
  hook(UC_HOOK_BLOCK, reinterpret_cast<void*>(&UnicornCore::on_block));
  hook(UC_HOOK_INTR, reinterpret_cast<void*>(&UnicornCore::on_exception));
  hook(UC_HOOK_MEM_INVALID, reinterpret_cast<void*>(&UnicornCore::on_invalid));
}

UnicornCore::~UnicornCore() {
  uc_close(engine_);
  for (Range* range : ranges_) delete range;
}

void UnicornCore::check(uc_err error, const char* what) const {
  if (error != UC_ERR_OK) throw std::runtime_error(std::string(what) + ": " + uc_strerror(error));
}

std::uint64_t UnicornCore::get(int register_number) const {
  std::uint64_t value = 0;
  uc_reg_read(engine_, register_number, &value);
  return value;
}

void UnicornCore::set(int register_number, std::uint64_t value) {
  uc_reg_write(engine_, register_number, &value);
}

const UnicornCore::Range* UnicornCore::find(std::uint64_t address) const {
  const auto found = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range* range) {
    return address >= range->base && address - range->base < range->bytes;
  });
  return found == ranges_.end() ? nullptr : *found;
}

void UnicornCore::forget_pages(const Range& range) {
  for (auto page = code_.begin(); page != code_.end();) {
    const bool inside = page->first >= range.base && page->first - range.base < range.bytes;
    page = inside ? code_.erase(page) : std::next(page);
  }
  last_page_ = ~std::uint64_t{0};
}

void UnicornCore::unmap(std::uint64_t base, std::uint64_t bytes) {
  const auto same = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range* range) {
    return range->base == base && range->bytes == bytes;
  });
  if (same == ranges_.end()) return;
  if ((*same)->host != nullptr) {
    uc_ctl_remove_cache(engine_, base, base + bytes);
    forget_pages(**same);
  }
  check(uc_mem_unmap(engine_, base, bytes), "unmapping a range");
  delete *same;
  ranges_.erase(same);
}

void UnicornCore::map_memory(std::uint64_t base, std::uint64_t bytes, unsigned char* host) {
  unmap(base, bytes);
  check(uc_mem_map_ptr(engine_, base, bytes, UC_PROT_ALL, host), "mapping memory");
  ranges_.push_back(new Range{base, bytes, host, this});
}

void UnicornCore::map_devices(std::uint64_t base, std::uint64_t bytes) {
  unmap(base, bytes);
  ranges_.push_back(new Range{base, bytes, nullptr, this});
  const uc_err error = uc_mmio_map(engine_, base, bytes, &UnicornCore::on_read, ranges_.back(),
                                   &UnicornCore::on_write, ranges_.back());
  if (error != UC_ERR_OK) {
    delete ranges_.back();
    ranges_.pop_back();
  }
  check(error, "mapping devices");
}

std::uint64_t UnicornCore::on_read(uc_engine*, std::uint64_t offset, unsigned bytes, void* range) {
  const Range& of = *static_cast<const Range*>(range);
  return of.core->bus_->read(of.base + offset, bytes);
}

void UnicornCore::on_write(uc_engine*, std::uint64_t offset, unsigned bytes, std::uint64_t value,
                           void* range) {
  const Range& of = *static_cast<const Range*>(range);
  of.core->bus_->write(of.base + offset, bytes, value);
}

void UnicornCore::on_block(uc_engine*, std::uint64_t address, std::uint32_t bytes, void* core) {
  static_cast<UnicornCore*>(core)->block(address, bytes);
}

void UnicornCore::block(std::uint64_t address, std::uint32_t bytes) {
  executed_ += block_;
  block_ = 0;
  if (!first_ && (executed_ >= goal_ || halt_ || (watch_ && must_stop()))) {
    stopped_ = true;
    uc_emu_stop(engine_);
    return;
  }
  first_ = false;
  block_ = bytes / 4;
  block_address_ = address;
  const std::uint64_t page = address & ~(kPage - 1);
  if (page != last_page_) remember_code(page);
  // A block reaches into the next page at most.
  const std::uint64_t end = (address + bytes - 1) & ~(kPage - 1);
  if (end != page) remember_code(end);
}

void UnicornCore::remember_code(std::uint64_t page) {
  last_page_ = page;
  if (code_.find(page) != code_.end()) return;
  const Range* range = find(page);
  if (range == nullptr || range->host == nullptr) return;
  std::memcpy(code_[page].data(), range->host + (page - range->base), kPage);
}

void UnicornCore::memory_changed() {
  bool changed = false;
  for (auto& [page, content] : code_) {
    const Range* range = find(page);
    if (range == nullptr || range->host == nullptr) continue;
    const unsigned char* now = range->host + (page - range->base);
    if (std::memcmp(content.data(), now, kPage) == 0) continue;
    std::memcpy(content.data(), now, kPage);
    uc_ctl_remove_cache(engine_, page, page + kPage);
    changed = true;
  }
  if (changed) last_page_ = ~std::uint64_t{0};
}

void UnicornCore::on_exception(uc_engine*, std::uint32_t number, void* core) {
  UnicornCore& self = *static_cast<UnicornCore*>(core);
  self.fault_ = "exception " + std::to_string(number) + " (" + self.exception_name(number) + ")";
  uc_emu_stop(self.engine_);
}

bool UnicornCore::on_invalid(uc_engine*, uc_mem_type type, std::uint64_t address, int bytes, std::int64_t,
                             void* core) {
  UnicornCore& self = *static_cast<UnicornCore*>(core);
  const char* kind = type == UC_MEM_FETCH_UNMAPPED || type == UC_MEM_FETCH_PROT   ? "fetch"
                     : type == UC_MEM_WRITE_UNMAPPED || type == UC_MEM_WRITE_PROT ? "write"
                                                                                  : "read";
  self.fault_ = std::string(kind) + " of " + std::to_string(bytes) + " bytes at " + hex(address) +
                ", which is not mapped";
  return false;
}

void UnicornCore::reset(std::uint64_t program_counter) {
  fault_.clear();
  reset_registers();
  set(pc_register_, program_counter);
}

// Unicorn reports an executed wait as an ordinary end; the opcode before the PC tells.
bool UnicornCore::waited() const {
  std::uint32_t opcode = 0;
  return uc_mem_read(engine_, program_counter() - 4, &opcode, sizeof opcode) == UC_ERR_OK &&
         opcode == wait_opcode_;
}

soc::CpuCore::Stop UnicornCore::step(std::uint64_t instructions) {
  if (!fault_.empty()) return Stop::kFault;
  goal_ = executed_ + std::max<std::uint64_t>(instructions, 1);
  halt_ = stopped_ = false;
  first_ = true;
  before_run();
  const uc_err error = uc_emu_start(engine_, program_counter(), ~std::uint64_t{0}, 0, 0);
  // The last block ended early, or at a wait, whose block Unicorn reports too long.
  if (block_ != 0) executed_ += (program_counter() - block_address_) / 4;
  block_ = 0;
  if (fault_.empty() && error != UC_ERR_OK) fault_ = uc_strerror(error);
  if (!fault_.empty()) {
    fault_ = "pc " + hex(program_counter()) + ": " + fault_;
    return Stop::kFault;
  }
  if (stopped_) return Stop::kBudget;
  return waited() ? Stop::kWaiting : Stop::kBudget;
}

}  // namespace weft::cpu_cores
