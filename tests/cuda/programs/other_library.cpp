// In place of NVIDIA's libcublas.so.13: what its static runtime library asks CUDA's driver for.
extern "C" int cudaGetExportTable(const void** table, const void* name);

int use_cublas();
int use_cublas() {
  const void* table = nullptr;
  const int result = cudaGetExportTable(&table, nullptr);
  return table == nullptr ? result : 0;  // also: no tail call, so that the caller is this library
}
