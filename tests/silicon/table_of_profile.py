#!/usr/bin/env python3
"""Makes measured/*_workloads.csv of what Nsight Compute counted while silicon_workloads ran (README.md).

usage: table_of_profile.py PROFILE.csv RUNS.json > TABLE.csv

PROFILE.csv: `ncu --csv --page raw`, a row per launch. RUNS.json: written by the same run of silicon_workloads, so its
launches come in the same order; it says to which workload each belongs, and whether the results were right.
"""

import csv
import json
import sys

# Column of the table -> metric of Nsight Compute.
METRICS = {
    "registers": "launch__registers_per_thread",
    "shared_bytes": "launch__shared_mem_config_size",
    "ns": "gpu__time_duration.sum",
    "cycles": "sm__cycles_elapsed.max",
    "active_cycles": "sm__cycles_active.avg",
    "warp_instructions": "smsp__inst_executed.sum",
    "thread_instructions": "smsp__thread_inst_executed.sum",
    "l1_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_load_hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_conflict_cycles": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l2_sectors": "lts__t_sectors.sum",
    "l2_read_sectors": "lts__t_sectors_op_read.sum",
    "l2_read_hits": "lts__t_sectors_op_read_lookup_hit.sum",
    "dram_bytes_read": "dram__bytes_read.sum",
    "dram_bytes_written": "dram__bytes_write.sum",
    "resident_warps_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
}


def profile_of(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("==")))
    return rows[1:]  # the first row has units


def launches_of(path):
    with open(path, encoding="utf-8") as file:
        runs = json.load(file)["runs"]
    for run in runs:
        for index, (kernel, blocks, threads, _) in enumerate(run["launches"]):
            yield run, index, kernel, blocks, threads


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    profile, launches = profile_of(sys.argv[1]), list(launches_of(sys.argv[2]))
    if len(profile) != len(launches):
        sys.exit(f"{sys.argv[1]} has {len(profile)} launches, {sys.argv[2]} has {len(launches)}")
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["workload", "size", "launch", "kernel", "blocks", "threads", *METRICS])
    for row, (run, index, kernel, blocks, threads) in zip(profile, launches):
        if not run.get("verified"):
            continue
        values = [row[metric].replace(",", "") for metric in METRICS.values()]
        table.writerow([run["workload"], run["size"], index, kernel, blocks, threads, *values])


if __name__ == "__main__":
    main()
