// PTX texts of the kernels, compiled and embedded when the project is built.
#ifndef WEFT_WORKLOADS_EMBEDDED_H
#define WEFT_WORKLOADS_EMBEDDED_H

namespace weft::workloads::embedded {

extern const char* const bfs;
extern const char* const coulombic_potential;
extern const char* const matrix_multiply;
extern const char* const reduction;
extern const char* const vector_add;

}  // namespace weft::workloads::embedded

#endif
