#include "check/thread_writes.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "check/report.h"

namespace weft::check {
namespace {

void put(std::FILE* file, const void* from, std::size_t bytes) {
  if (bytes != 0 && std::fwrite(from, 1, bytes, file) != bytes)
    throw std::runtime_error("--check scalar: the temporary file cannot be written");
}
void put(std::FILE* file, std::uint64_t number) {
  put(file, &number, sizeof number);
}
void put(std::FILE* file, const std::string& text) {
  put(file, std::uint64_t{text.size()});
  put(file, text.data(), text.size());
}

bool get(std::FILE* file, void* to, std::size_t bytes) {
  return bytes == 0 || std::fread(to, 1, bytes, file) == bytes;
}
bool get(std::FILE* file, std::uint64_t& number) {
  return get(file, &number, sizeof number);
}
bool get(std::FILE* file, std::string& text) {
  std::uint64_t size = 0;
  if (!get(file, size)) return false;
  text.resize(size);
  return get(file, text.data(), size);
}

}  // namespace

std::uint64_t hash_of(const unsigned char* memory, std::uint64_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ bytes;
  for (std::uint64_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, memory + at, std::min<std::uint64_t>(sizeof word, bytes - at));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

void LaunchWrites::write(std::FILE* file) const {
  put(file, kernel);
  put(file, unlike);
  put(file, std::uint64_t{image.size()});
  put(file, image.data(), image.size() * sizeof(ImagePart));
  put(file, std::uint64_t{threads.size()});
  for (const auto& writes : threads) {
    put(file, std::uint64_t{writes.size()});
    put(file, writes.data(), writes.size() * sizeof(RegisterWrite));
  }
  // Nothing is left in a buffer, of which a process that ends without destructors would lose it.
  if (std::fflush(file) != 0)
    throw std::runtime_error("--check scalar: the temporary file cannot be written");
}

bool LaunchWrites::read(std::FILE* file) {
  std::uint64_t count = 0;
  if (!get(file, kernel) || !get(file, unlike) || !get(file, count)) return false;
  image.resize(count);
  if (!get(file, image.data(), count * sizeof(ImagePart)) || !get(file, count)) return false;
  threads.resize(count);
  for (auto& writes : threads) {
    if (!get(file, count)) return false;
    writes.resize(count);
    if (!get(file, writes.data(), count * sizeof(RegisterWrite))) return false;
  }
  return true;
}

bool is_of_the_text(const ptx::Instruction& in) {
  return !in.spill && in.op != ptx::Opcode::kCall && in.ptx.line != 0;
}

RegisterWrite write_of(const execute::ObservedInstruction& o, std::size_t result, unsigned lane) {
  const ptx::Instruction& in = o.kernel->program.code[o.pc];
  const ptx::Operand& dst = in.dst[result];
  RegisterWrite write;
  write.place = in.ptx.line * kResultsOfALine + static_cast<std::uint32_t>(result);
  if (dst.kind == ptx::Operand::Kind::kPredicate) {
    write.value = o.registers->predicate(o.chunk, dst.index) >> lane & 1;
    return write;
  }
  const std::uint32_t* const row = o.registers->row(o.chunk, dst.index);
  const bool wide = (in.wide_results >> result & 1) != 0;
  write.value = wide ? row[2 * lane] ^ row[2 * lane + 1] * 0x9e3779b1u : row[lane];
  return write;
}

std::uint64_t thread_in_grid(const execute::ObservedInstruction& o, unsigned lane) {
  const std::uint64_t in_block = o.block->thread_of(o.chunk, lane);
  return block_of(*o.kernel, *o.block) * o.kernel->threads + in_block;
}

}  // namespace weft::check
