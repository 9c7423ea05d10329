// In place of NVIDIA's libnvrtc.so.13, a compiler: it asks the driver for a table and does without.
extern "C" int cuGetExportTable(const void** table, const void* name);

int ask_for_table();
int ask_for_table() {
  const void* table = nullptr;
  const int result = cuGetExportTable(&table, nullptr);
  return table == nullptr ? result : 0;  // also: no tail call, so that the caller is this library
}
