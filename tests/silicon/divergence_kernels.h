// Small kernels with divergent control flow that record which threads execute each point together.
//
// A body is PTX; a line "#7" in it is point 7. There each thread appends {point, activemask, clock, 0} to its
// log. Threads of one warp that execute a point together read the same clock. A body may use:
//   %x0 to %x3  words of data, different in each thread      %lane   lane of the thread
//   %v          changes at each point; stored at the end     %words  address of 64 words of the warp, first 0
//   %spins      stored at the end                            %bound  limit of a loop that waits
//   %p1 to %p9, %a0 to %a15, %c0 to %c31, %d0 to %d7: free (predicates, 32, 32 and 64 bits)
// It may jump to DONE, which is point 99 and stores the results.
#ifndef WEFT_TESTS_SILICON_DIVERGENCE_KERNELS_H
#define WEFT_TESTS_SILICON_DIVERGENCE_KERNELS_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft::test::silicon {

struct DivergenceKernel {
  std::string name;
  std::string body;
  std::string functions =
      {};  // PTX before the kernel; points of functions need %log, %last, %v as the kernel
  // Threads wait for others of their warp. Paths depend on time; %c31, which is 1 if the thread got what it
  // waited for, is stored at the end in the place of %v.
  bool waits = false;
};

inline constexpr unsigned kLogEntries = 256;  // of a thread
inline constexpr unsigned kLastPoint = 99;

std::vector<DivergenceKernel> shaped_kernels();   // one for each shape of control flow
std::vector<DivergenceKernel> waiting_kernels();  // threads that wait for other threads of their warp
std::vector<DivergenceKernel> random_control_flow(unsigned count);
// "shapes": the first two; "divergence": all three; another list is empty.
std::vector<DivergenceKernel> divergence_kernels(const std::string& list);

// The whole module with kernel k(log, data, values, words, bound); `header`: .version and .target.
std::string module_of(const DivergenceKernel& kernel, const std::string& header);

}  // namespace weft::test::silicon

#endif
