// Files that Weft writes: whole under a temporary name first, then renamed, so that a reader never sees half
// of one and a full disk costs nothing that was there.
//
// A name may lead elsewhere. Symbolic links are followed. Devices, pipes and files with several names (hard
// links) are written through: they stay what they are, but for hard links in a set, whose other names keep
// what they had. Of a descriptor of this process (/dev/stdout), that descriptor is written to.
//
// What takes hours to compute is not given up because a name cannot be written: save_file and save_files
// then write under another name, and return a message that says which; it is empty if all went as asked.
#ifndef WEFT_COMMON_OUTPUT_FILES_H
#define WEFT_COMMON_OUTPUT_FILES_H

#include <string>
#include <string_view>
#include <vector>

namespace weft {

// A file of a set, in the set's folder. `absent`: this run has none, and one that is there is of another run
// and goes.
struct TextFile {
  std::string name, text;
  bool absent = false;
};

// Makes the folder and its parents. Throws InputError.
void make_folder(const std::string& path);

// Throws InputError if a file of this name cannot be made or written to, as far as that shows beforehand.
void check_writable(const std::string& path);

// Throws InputError with the system's reason (no space left, no permission); an older file of that name is
// then untouched, and no partial one remains.
void replace_file(const std::string& path, std::string_view text);

// The same; if it cannot be written there, beside it, else in the folder for temporary files. Throws
// InputError if nowhere.
[[nodiscard]] std::string save_file(const std::string& path, std::string_view text);

// The files of one run, which appear together or not at all. The last one of the set is the mark: it goes
// before any other file is replaced, and comes when all have been. So where it is, the files are of one run,
// whenever the program was killed; where it is not, they may be of two. Elsewhere means in a new folder
// beside this one, else in the folder for temporary files. Throws InputError if nowhere.
//
// Not `synced`, the same holds unless the machine itself fails within some seconds: for files that are read
// and removed at once.
[[nodiscard]] std::string save_files(const std::string& folder, const std::vector<TextFile>& files,
                                     bool synced = true);

// Removes what programs that were killed left half written in the folder, of which nobody else may write.
void remove_drafts(const std::string& folder);

// For a stream of output that begins now: a new or emptied file, a device, a pipe. Throws InputError. The
// caller closes it.
int open_output(const std::string& path);
// All of the text; 0, or the system's reason.
int write_all(int descriptor, std::string_view text);

}  // namespace weft

#endif
