// Joins functions into a Program: rows and predicates in place of virtual registers, PCs in place of labels,
// one table of constants, special registers and files.
//
//   Assembly assembly("kernel");
//   for (...) assembly.reserve(draft, allocation);          // the kernel first
//   assembly.lay_out();
//   for (...) assembly.add(name, draft, flow, convergence);  // in the same order
//   Program program = assembly.finish();
//
// Functions share the rows, 64-bit registers on the first ones as in each of them; then come the stack
// pointer and the link register, if anything is called. Scalar registers, which only the kernel has, take the
// rows after these, and scalar predicates the numbers after the others.
#ifndef WEFT_PTX_ASSEMBLY_H
#define WEFT_PTX_ASSEMBLY_H

#include <string>
#include <utility>
#include <vector>

#include "ptx/allocation.h"
#include "ptx/convergence.h"
#include "ptx/draft.h"
#include "ptx/flow.h"

namespace weft::ptx {

class Assembly {
 public:
  explicit Assembly(const std::string& kernel) { program_.name = kernel; }

  void reserve(const Draft& draft, const Allocation& allocation);
  void lay_out();
  void add(const std::string& name, const Draft& draft, const FlowGraph& flow,
           const Convergence& convergence);
  // The function of that number can be called by its address.
  void set_entry(std::uint64_t address, std::uint32_t function);
  // Where a register of function number `function` lies, and the function's first PC. Before `finish`.
  std::uint16_t place_of(std::size_t function, VirtualId id) const { return index(id, places_[function]); }
  Pc first_of(std::size_t function) const { return places_[function].first; }
  Program finish();

 private:
  struct Place {
    const Draft* draft = nullptr;
    const Allocation* allocation = nullptr;
    Pc first = 0;
    std::uint32_t first_constant = 0;
    std::vector<std::uint16_t> specials, files;  // of the draft -> of the program
  };

  Instruction finish(const DraftInstruction& draft, const Place& place) const;
  void add_blocks(const FlowGraph& flow, const Place& place);
  void add_convergence(const Convergence& convergence);
  std::uint16_t index(VirtualId id, const Place& place) const;
  std::uint16_t key(const Operand& operand) const;
  void add_specials(const Draft& draft, Place& place);
  void add_files(const Draft& draft, Place& place);

  Program program_;
  std::vector<Place> places_;
  std::vector<Pc> entries_;  // by number of the function
  std::size_t added_ = 0;
  Pc size_ = 0;
  std::uint32_t constants_ = 0;
  bool calls_ = false;  // device functions: then there is a stack
  std::uint32_t wide_rows_ = 0, narrow_rows_ = 0;
  std::uint32_t first_scalar_row_ = 0;
  std::uint16_t first_scalar_predicate_ = 0;
};

}  // namespace weft::ptx

#endif
