// Jobs on a cluster that Slurm manages: as elements of job arrays, on machines that share a file system with
// this one. Each element is this program again (`weft sweep --worker`), which does one job under its limits
// and leaves how it ended in a file.
#ifndef WEFT_STUDY_RUN_SLURM_H
#define WEFT_STUDY_RUN_SLURM_H

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "study/run/processes.h"

namespace weft::study {

struct SlurmOptions {
  std::string folder;      // shared; for the jobs' list and Slurm's messages
  std::string name;        // of the arrays
  unsigned parallel = 0;   // elements at a time; 0: as many as Slurm starts
  std::string submission;  // further options of sbatch, as a shell reads them: "--partition=long --mem=4G"
  bool fresh = false;      // jobs whose ends are there are done again
};

// As run_apart(), but by Slurm: the folder of `messages` of each job gets the file in which its end stands.
// An element that Slurm lost (a node died, somebody cancelled it) is submitted anew, three times at most;
// then it counts as killed. After an interrupt the arrays are cancelled. Jobs whose end is there already,
// from a process that did not live to see it, are not done again, and arrays of such a process are cancelled.
// Throws InputError if a command of Slurm refuses.
void run_by_slurm(const std::vector<Job>& jobs, const SlurmOptions& options,
                  const std::function<void(std::size_t)>& starts,
                  const std::function<void(std::size_t, const JobEnd&)>& ended);

// What an element does: job `number` of the list in `file`. Throws InputError.
void work_for_slurm(const std::string& file, std::size_t number);

}  // namespace weft::study

#endif
