// Hand-written kernels of what schemes stumble over: the test matrix, row by row. They are launched as random
// kernels are (kernel_generator.h), and their results do not depend on the order of their threads either.
#ifndef WEFT_TESTS_EQUIVALENCE_MATRIX_KERNELS_H
#define WEFT_TESTS_EQUIVALENCE_MATRIX_KERNELS_H

#include <string>
#include <vector>

#include "equivalence/kernel_generator.h"

namespace weft::test {

struct MatrixKernel {
  std::string name;
  RandomKernel kernel;
};
std::vector<MatrixKernel> matrix_kernels();

}  // namespace weft::test

#endif
