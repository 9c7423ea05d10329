// Result files: written whole under a temporary name, then renamed, so that a reader never sees half of one.
#ifndef WEFT_SC_MAIN_FILES_H
#define WEFT_SC_MAIN_FILES_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

// Makes the folder and its parents. Throws InputError.
void make_folder(const std::string& path);
// Throws InputError with the system's reason (no space left, no permission); an older file of that name is
// then untouched, and no partial one remains.
void write_file(const std::string& path, std::string_view text);

}  // namespace weft::cli

#endif
