#include "study/run/run_store.h"

#include <nlohmann/json.hpp>

#include "weft/common/error.h"

namespace weft::study {

std::string RunEnd::text() const {
  switch (state) {
    case State::kNotFinished:
      return reason.empty() ? "not finished" : "not finished: " + reason;
    case State::kNotRun:
      return "not run: interrupted";
    case State::kDone:
      return "verified";
    case State::kWrong:
      return "wrong result: " + reason;
    case State::kRefused:
      return "refused: " + reason;
    case State::kFault:
      return "fault: " + reason;
    case State::kNoResults:
      return "no results: " + reason;
    case State::kKilled:
      return "killed " + reason;
    case State::kTime:
      return "time: " + reason;
    case State::kMemory:
      return "memory: " + reason;
  }
  return "";
}

RunEnd end_of_job(const Job& job, const JobEnd& end) {
  using State = RunEnd::State;
  RunEnd result;
  result.cpu_seconds = end.cpu_seconds;
  if (end.stopped == JobEnd::Stopped::kTime) {
    result.state = State::kTime;
    result.reason = "more than " + nlohmann::json(job.most_seconds).dump() + " s";
  } else if (end.stopped == JobEnd::Stopped::kMemory) {
    result.state = State::kMemory;
    result.reason = "more than " + std::to_string(job.most_bytes >> 20) + " MiB";
  } else if (end.code > static_cast<int>(ExitCode::kFault)) {
    result.state = State::kKilled;
    result.reason = "by signal " + std::to_string(end.code - 128);
  } else {
    static constexpr State kStates[] = {State::kDone, State::kWrong, State::kRefused, State::kFault};
    result.state = kStates[end.code];
    result.code = end.code;
    if (end.code != 0) result.reason = first_message(job.messages);
  }
  return result;
}

Row row_of(const std::string& workload, const std::string& scheme, const RunEnd& end) {
  Row row{workload, scheme, end.code, end.text(), {}};
  if (end.measures) row.measures = *end.measures;
  return row;
}

}  // namespace weft::study
