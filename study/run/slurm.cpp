#include "study/run/slurm.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "common/input_file.h"
#include "common/output_files.h"
#include "study/plan/place.h"
#include "study/session/interrupt.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostElements = 1000;             // of an array: Slurm's default allows 1001
constexpr unsigned kMostSubmissions = 3;                // of a job
constexpr auto kLook = std::chrono::milliseconds(100);  // between looks for ends
constexpr auto kLookAtQueue = std::chrono::seconds(5);  // ... at Slurm's queue, which is others' too

std::string in_shell(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

struct Reply {
  int code = 0;
  std::string text;  // standard output and error
};

// A command line for a shell.
Reply ask(const std::string& command) {
  Reply reply;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");  // NOLINT(cert-env33-c): the user's sbatch
  if (pipe == nullptr) throw InputError("weft", "cannot start a process for: " + command);
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), static_cast<int>(part.size()), pipe) != nullptr) reply.text += part.data();
  const int status = pclose(pipe);
  reply.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  while (!reply.text.empty() && reply.text.back() == '\n') reply.text.pop_back();
  return reply;
}

std::string end_file(const Job& job) {
  return std::filesystem::path(job.messages).replace_filename("end.json").string();
}

ordered_json json_of(const JobEnd& end) {
  return {{"code", end.code},
          {"stopped", static_cast<int>(end.stopped)},
          {"wall_seconds", end.wall_seconds},
          {"cpu_seconds", end.cpu_seconds},
          {"peak_bytes", end.peak_bytes},
          {"host", end.host}};
}

// Nothing: there is none, or none that is whole.
std::optional<JobEnd> end_of(const Job& job) {
  std::error_code none;
  const std::string file = end_file(job);
  if (!std::filesystem::is_regular_file(file, none)) return {};
  try {
    const auto json = nlohmann::json::parse(read_regular_file(file));
    JobEnd end;
    end.code = json.at("code").get<int>();
    end.stopped = static_cast<JobEnd::Stopped>(json.at("stopped").get<int>());
    end.wall_seconds = json.at("wall_seconds").get<double>();
    end.cpu_seconds = json.at("cpu_seconds").get<double>();
    end.peak_bytes = json.at("peak_bytes").get<std::uint64_t>();
    end.host = json.at("host").get<std::string>();
    return end;
  } catch (const nlohmann::json::exception&) {
    return {};
  } catch (const InputError&) {
    return {};
  }
}

class Arrays {
 public:
  Arrays(const std::vector<Job>& jobs, const SlurmOptions& options)
      : jobs_(jobs),
        options_(options),
        record_(options.folder + "/arrays.json"),
        submitted_(jobs.size(), 0) {}

  // Those of a process that did not live to cancel them.
  void cancel_old() {
    std::error_code none;
    if (!std::filesystem::is_regular_file(record_, none)) return;
    const auto old = nlohmann::json::parse(read_regular_file(record_), nullptr, false);
    for (const auto& array : old.is_array() ? old : nlohmann::json::array()) {
      if (array.is_string()) ask("scancel " + in_shell(array.get<std::string>()));
    }
    std::filesystem::remove(record_, none);
  }

  void submit(const std::vector<std::size_t>& numbers) {
    for (std::size_t at = 0; at < numbers.size(); at += kMostElements) {
      const auto end =
          numbers.begin() + static_cast<std::ptrdiff_t>(std::min(at + kMostElements, numbers.size()));
      submit_array({numbers.begin() + static_cast<std::ptrdiff_t>(at), end});
    }
  }

  // Jobs that are neither at an end nor in Slurm's queue, at two looks one after the other: what an element
  // wrote may come later than the news that it ended. `open` are those without an end.
  std::vector<std::size_t> lost(const std::set<std::size_t>& open) {
    std::set<std::size_t> queued;
    for (const auto& [array, elements] : arrays_) {
      const bool any = std::any_of(elements.begin(), elements.end(),
                                   [&](std::size_t job) { return open.count(job) != 0; });
      if (!any) continue;
      const Reply reply = ask("squeue --noheader --array --format=%K --jobs=" + in_shell(array));
      const bool gone = reply.text.find("Invalid job id") != std::string::npos;
      if (reply.code != 0 && !gone) {
        if (!complained_) std::cerr << "weft: squeue: " << reply.text << "; waiting\n";
        complained_ = true;
        return {};
      }
      std::istringstream in(gone ? "" : reply.text);
      for (std::size_t element = 0; in >> element;) {
        if (element < elements.size()) queued.insert(elements[element]);
      }
    }
    complained_ = false;
    std::vector<std::size_t> list;
    std::set<std::size_t> missing;
    for (const std::size_t job : open) {
      if (queued.count(job) != 0) continue;
      missing.insert(job);
      if (missing_.count(job) != 0) list.push_back(job);
    }
    missing_ = std::move(missing);
    for (const std::size_t job : list) missing_.erase(job);
    return list;
  }
  bool may_submit(std::size_t job) const { return submitted_[job] < kMostSubmissions; }
  void cancel() {
    for (const auto& [array, elements] : arrays_) ask("scancel " + in_shell(array));
  }
  void forget() const {
    std::error_code none;
    std::filesystem::remove(record_, none);
  }

 private:
  void submit_array(std::vector<std::size_t> numbers) {
    const std::string list = options_.folder + "/jobs-" + std::to_string(arrays_.size()) + ".json";
    ordered_json text = ordered_json::array();
    for (const std::size_t number : numbers) {
      const Job& job = jobs_[number];
      ++submitted_[number];
      text.push_back({{"arguments", job.arguments},
                      {"messages", std::filesystem::absolute(job.messages).string()},
                      {"output", job.output.empty() ? "" : std::filesystem::absolute(job.output).string()},
                      {"seconds", job.most_seconds},
                      {"bytes", job.most_bytes}});
    }
    replace_file(list, text.dump(1) + "\n");
    std::string elements = "0-" + std::to_string(numbers.size() - 1);
    if (options_.parallel != 0) elements += "%" + std::to_string(options_.parallel);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string work =
        in_shell(program) + " sweep --worker " + in_shell(std::filesystem::absolute(list).string());
    const Reply reply =
        ask("sbatch --parsable --requeue --array=" + elements +
            " --job-name=" + in_shell("weft-" + options_.name) + " --output=" +
            in_shell(std::filesystem::absolute(options_.folder).string() + "/slurm-%A-%a.txt") + " " +
            options_.submission + " --wrap " + in_shell("exec " + work));
    // "12345" or "12345;cluster"
    const std::string array = reply.text.substr(0, reply.text.find(';'));
    if (reply.code != 0 || array.empty() || array.find_first_not_of("0123456789") != std::string::npos)
      throw InputError("--engine slurm", "sbatch: found '" + reply.text + "'; allowed: the number of a job");
    arrays_.emplace_back(array, std::move(numbers));
    ordered_json names = ordered_json::array();
    for (const auto& one : arrays_) names.push_back(one.first);
    replace_file(record_, names.dump() + "\n");
  }

  const std::vector<Job>& jobs_;
  const SlurmOptions& options_;
  const std::string record_;
  std::vector<unsigned> submitted_;  // how often, per job
  // Slurm's number, and the job of each element.
  std::vector<std::pair<std::string, std::vector<std::size_t>>> arrays_;
  std::set<std::size_t> missing_;  // at the last look at the queue
  bool complained_ = false;
};

}  // namespace

void run_by_slurm(const std::vector<Job>& jobs, const SlurmOptions& options,
                  const std::function<void(std::size_t)>& starts,
                  const std::function<void(std::size_t, const JobEnd&)>& ended) {
  Arrays arrays(jobs, options);
  arrays.cancel_old();
  std::set<std::size_t> open;
  // The file of an end is for a process that did not live to see it, and must not count for a later one.
  const auto finish = [&](std::size_t job, const JobEnd& end) {
    ended(job, end);
    std::error_code none;
    std::filesystem::remove(end_file(jobs[job]), none);
  };
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (const auto end = options.fresh ? std::nullopt : end_of(jobs[i])) {
      finish(i, *end);
    } else {
      starts(i);
      std::error_code none;
      std::filesystem::remove(end_file(jobs[i]), none);
      open.insert(i);
    }
  }
  if (open.empty()) return;
  arrays.submit({open.begin(), open.end()});
  auto looked = Clock::now();
  while (!open.empty() && !interrupted()) {
    std::this_thread::sleep_for(kLook);
    const std::vector<std::size_t> waiting(open.begin(), open.end());
    for (const std::size_t i : waiting) {
      const auto end = end_of(jobs[i]);
      if (!end.has_value()) continue;
      open.erase(i);
      finish(i, *end);
    }
    if (Clock::now() - looked < kLookAtQueue) continue;
    looked = Clock::now();
    std::vector<std::size_t> again;
    for (const std::size_t i : arrays.lost(open)) {
      if (arrays.may_submit(i)) {
        starts(i);
        again.push_back(i);
      } else {
        JobEnd end;
        end.code = 128 + SIGKILL;
        open.erase(i);
        ended(i, end);
      }
    }
    if (!again.empty()) {
      std::cerr << "weft: Slurm lost " << again.size() << " runs and submits these runs again\n";
      arrays.submit(again);
    }
  }
  if (!open.empty()) arrays.cancel();
  arrays.forget();
}

void work_for_slurm(const std::string& file, std::size_t number) {
  const nlohmann::json document = nlohmann::json::parse(read_regular_file(file), nullptr, false);
  const Place place(document, file);
  const auto items = place.items();
  if (number >= items.size()) {
    throw InputError(file, "has " + std::to_string(items.size()) +
                               " jobs; found SLURM_ARRAY_TASK_ID=" + std::to_string(number));
  }
  const Place& item = items[number];
  item.keys({"arguments", "messages", "output", "seconds", "bytes"});
  const Job job{item.at("arguments").texts(), item.at("messages").text(),
                item.at("output").value().get<std::string>(), item.at("seconds").number(),
                static_cast<std::uint64_t>(item.at("bytes").number())};
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  run_apart(
      {job}, {}, [](std::size_t) {},
      [&](std::size_t, JobEnd end) {
        // Slurm takes it away, to do it elsewhere or not at all: no end.
        if (interrupted()) return;
        end.host = host.data();
        replace_file(end_file(job), json_of(end).dump() + "\n");
      });
}

}  // namespace weft::study
