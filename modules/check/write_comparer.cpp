#include "check/write_comparer.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "common/hex.h"

namespace weft::check {
namespace {

constexpr std::uint64_t kDiffers = UINT64_MAX;

bool same_places(const std::vector<ImagePart>& a, const std::vector<ImagePart>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ImagePart& x, const ImagePart& y) {
    return x.address == y.address && x.bytes == y.bytes;
  });
}

// The n-th operand of the statement that begins at a column of a line: "%r2" of "@%p1 ld.v2.u32 {%r1, %r2},
// ..."
std::string operand_of(const std::string& line, std::size_t column, std::size_t n) {
  std::size_t at = std::min(column, line.size());
  const auto skip = [&](auto while_it_is) {
    while (at < line.size() && while_it_is(line[at])) ++at;
  };
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  const auto is_word = [&](char c) {
    return !is_space(c) && std::string(",{}()[]|;").find(c) == std::string::npos;
  };
  skip(is_space);
  if (at < line.size() && line[at] == '@') {
    skip(is_word);
    skip(is_space);
  }
  skip(is_word);  // the opcode
  for (;; --n) {
    skip([&](char c) { return !is_word(c) && c != ';'; });
    const std::size_t first = at;
    skip(is_word);
    if (at == first || n == 0) return line.substr(first, at - first);
  }
}

}  // namespace

WriteComparer::WriteComparer(std::FILE* file, const std::string& text, ReportLog& log)
    : file_(file), log_(log) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines_.push_back(line);
}

void WriteComparer::leave_out(const std::string& why) {
  compares_ = false;
  ++left_out_[(kernel_ == nullptr ? std::string() : kernel_->program.name + ": ") + why];
}

void WriteComparer::kernel_started(const execute::Kernel& kernel, const AllocationLog& allocations) {
  kernel_ = &kernel;
  compares_ = true;
  if (!apart_.empty()) return leave_out(apart_);
  recorded_ = {};
  if (!recorded_.read(file_)) {
    apart_ = "the run without scalarization ended before this launch";
    return leave_out(apart_);
  }
  if (recorded_.kernel != kernel.program.name || !same_places(recorded_.image, allocations.of_host())) {
    apart_ = "allocations have other addresses without scalarization, because local memory has another size";
    return leave_out(apart_);
  }
  if (!recorded_.unlike.empty()) return leave_out(recorded_.unlike);
  next_.assign(recorded_.threads.size(), 0);
}

void WriteComparer::done(const execute::ObservedInstruction& o) {
  if (!compares_) return;
  visit_writes(o, [&](std::uint64_t thread, unsigned lane, std::size_t result, const RegisterWrite& write) {
    compare(o, thread, lane, result, write);
  });
}

void WriteComparer::compare(const execute::ObservedInstruction& o, std::uint64_t thread, unsigned lane,
                            std::size_t result, const RegisterWrite& write) {
  std::uint64_t& next = next_[thread];
  if (next == kDiffers) return;
  const std::vector<RegisterWrite>& recorded = recorded_.threads[thread];
  if (next < recorded.size() && recorded[next] == write) {
    ++next;
    return;
  }
  const ptx::Instruction& in = o.kernel->program.code[o.pc];
  log_.add(
      "scalar", o.kernel->program.name, o.pc,
      [&] {
        std::string text = place(o, lane) + "write " + std::to_string(next + 1) + " of this thread is of " +
                           register_name(in, result);
        const bool wide = (in.wide_results >> result & 1) != 0;
        if (!wide) text += ", " + hex(write.value);
        text += "; without scalarization ";
        if (next == recorded.size()) return text + "it writes nothing more";
        if (recorded[next].place != write.place)
          return text + "it is in line " + std::to_string(line_of(recorded[next])) + " of the PTX";
        return text + "it is " + (wide ? "another value" : hex(recorded[next].value));
      },
      true);
  next = kDiffers;
}

std::string WriteComparer::register_name(const ptx::Instruction& in, std::size_t result) const {
  std::string name;
  if (in.ptx.line <= lines_.size() && in.ptx.column != 0)
    name = operand_of(lines_[in.ptx.line - 1], in.ptx.column - 1, result);
  return name.empty() ? "result " + std::to_string(result + 1) : name;
}

void WriteComparer::kernel_ended(const AllocationLog& allocations, const unsigned char* memory,
                                 std::uint64_t base) {
  const auto thread_that_stops = std::find_if(next_.begin(), next_.end(), [&](const std::uint64_t& next) {
    return next != kDiffers &&
           next != recorded_.threads[static_cast<std::size_t>(&next - next_.data())].size();
  });
  if (compares_ && thread_that_stops != next_.end()) {
    const auto thread = static_cast<std::uint64_t>(thread_that_stops - next_.begin());
    log_.add(
        "scalar", recorded_.kernel, ptx::kNoPc,
        [&] {
          return recorded_.kernel + ": " +
                 thread_name(*kernel_, thread / kernel_->threads,
                             static_cast<std::uint32_t>(thread % kernel_->threads)) +
                 " writes nothing after write " + std::to_string(*thread_that_stops) +
                 "; without scalarization it goes on in line " +
                 std::to_string(line_of(recorded_.threads[thread][*thread_that_stops])) + " of the PTX";
        },
        true);
  }
  if (apart_.empty()) compare_images(allocations, memory, base);
  kernel_ = nullptr;
  next_.clear();
}

void WriteComparer::compare_images(const AllocationLog& allocations, const unsigned char* memory,
                                   std::uint64_t base) {
  const std::vector<ImagePart> image = allocations.of_host();
  if (!same_places(recorded_.image, image)) return;  // freed within the launch
  for (std::size_t i = 0; i < image.size(); ++i) {
    if (hash_of(memory + (image[i].address - base), image[i].bytes) == recorded_.image[i].hash) continue;
    if (!compares_) {
      apart_ = "an earlier launch left other values in memory (" + recorded_.unlike + ")";
      return;
    }
    log_.add(
        "scalar", recorded_.kernel, ptx::kNoPc,
        [&] {
          return recorded_.kernel + ": after the launch, the content of " +
                 allocations.name_of(image[i].address) + " differs from the run without scalarization";
        },
        true);
  }
}

std::vector<std::string> WriteComparer::left_out() const {
  std::vector<std::string> lines;
  lines.reserve(left_out_.size());
  for (const auto& [what, launches] : left_out_)
    lines.push_back(what + (launches == 1 ? "" : " (" + std::to_string(launches) + " launches)"));
  return lines;
}

}  // namespace weft::check
