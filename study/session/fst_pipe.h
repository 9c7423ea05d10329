// Waveforms as FST, a tenth of a VCD: GTKWave's vcd2fst makes them while the simulation runs.
//
//   FstPipe pipe("run.fst");
//   gpu.recordings().write_waveform(pipe.input(), selection);
//   pipe.close_input();          // whoever writes has it open by now
//   gpu.recordings().close_waveforms();
//   pipe.finish();
#ifndef WEFT_STUDY_SESSION_FST_PIPE_H
#define WEFT_STUDY_SESSION_FST_PIPE_H

#include <sys/types.h>

#include <string>

namespace weft::study {

class FstPipe {
 public:
  static bool wanted_for(const std::string& file);  // its name ends in .fst

  // Starts vcd2fst. Throws InputError if there is none or `file` cannot be written.
  explicit FstPipe(std::string file);
  // Does not wait: vcd2fst ends with its input, and so does what it writes.
  ~FstPipe();
  FstPipe(const FstPipe&) = delete;
  FstPipe& operator=(const FstPipe&) = delete;

  // A path that leads into vcd2fst.
  std::string input() const;
  void close_input();
  // Waits for vcd2fst. Throws InputError if it failed or its file is not whole, which it does not notice
  // itself.
  void finish();

 private:
  const std::string file_;
  int input_ = -1;
  pid_t process_ = -1;
};

// Whether the blocks of an FST file are all there: type (1 byte), length (8, the highest first), content;
// with hierarchy and geometry, which are written at its end.
bool is_whole_fst(const std::string& file);

}  // namespace weft::study

#endif
