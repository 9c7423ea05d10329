// --check scalar runs the work twice: first without scalarization, in a process of its own, where everything
// that threads write is recorded, then as it was asked for, compared with the record.
#ifndef WEFT_STUDY_RUN_SCALAR_REFERENCE_H
#define WEFT_STUDY_RUN_SCALAR_REFERENCE_H

#include <cstdio>
#include <functional>
#include <string>

#include "study/session/session.h"
#include "study/terminal/words.h"

namespace weft::study {

class ScalarReference {
 public:
  // Runs nothing unless the options have the check and a machine with scalarization. Before there is a
  // Session: SystemC elaborates once per process. `ptx`: the kernels' text.
  ScalarReference(const SessionOptions& options, std::string ptx,
                  const std::function<ExitCode(const SessionOptions&)>& run);
  ~ScalarReference();
  ScalarReference(const ScalarReference&) = delete;
  ScalarReference& operator=(const ScalarReference&) = delete;

  // The options, for a run that is compared with what was recorded.
  SessionOptions compared(SessionOptions options) const;

 private:
  std::FILE* record_ = nullptr;
  std::string ptx_;
};

}  // namespace weft::study

#endif
