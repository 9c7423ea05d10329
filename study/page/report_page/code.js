// Kernels, branches, and the lines of their code.
import { bars, colours } from "./charts.js";
import { missing } from "./cycles.js";
import { fixed, make, percent, sum, whole } from "./format.js";
import { table } from "./table.js";

const buckets = ["issued", "unit_busy", "memory_busy", "memory", "dependence", "control", "fetch", "barrier", "reconvergence", "scheme", "empty"];

export function kernels(runs) {
  const rows = runs.flatMap((run) => (run.launches ?? []).map((kernel) => ({ run: run.name, ...kernel })));
  if (!rows.length) return [make("p", {}, "The folders have no table of launches.")];
  const energies = rows.some((row) => row.energy_nj);
  const number = (name, key) => ({ name, number: true, value: (row) => row[key] ?? 0, text: (row) => whole(row[key] ?? 0) });
  return [table({
    caption: "Launches by kernel",
    columns: [
      { name: "kernel", wide: true, value: (row) => row.kernel },
      ...(runs.length > 1 ? [{ name: "run", value: (row) => row.run }] : []),
      number("launches", "launches"), number("core cycles", "cycles"), number("blocks", "blocks"), number("threads", "threads"),
      number("thread instructions", "thread_instructions"), number("warp instructions", "warp_instructions"),
      { name: "IPC", number: true, value: (row) => row.ipc, text: (row) => fixed(row.ipc, 2) },
      { name: "lane activity", number: true, value: (row) => row.lane_activity ?? 0, text: (row) => percent(row.lane_activity ?? 0) },
      ...(energies ? [{ name: "µJ", number: true, value: (row) => row.energy_nj ?? 0, text: (row) => fixed((row.energy_nj ?? 0) / 1000, 2) }] : []),
    ],
    rows,
  })];
}

export function branches(runs) {
  const observed = runs.filter((one) => one.profile);
  if (!observed.length) return [missing("sm.observe.instructions=true")];
  const ofRun = (run) => run.profile.kernels.flatMap((kernel) => kernel.branches.map((branch) => ({ ...branch, kernel: kernel.name, run: run.name })))
    .sort((a, b) => b.lost - a.lost);
  const label = (row) => `${row.source.split("/").pop() || row.ptx} (pc ${row.pc})`;
  const all = observed.flatMap(ofRun).sort((a, b) => b.lost - a.lost);
  const names = [...new Set(all.map(label))].slice(0, 15);
  const parts = all.length ? [bars({
    caption: "Places for threads that each branch emptied (below 0: threads of several warps were combined)",
    says: `Branches that lose most: ${all.slice(0, 3).map((row) => `${label(row)} ${whole(row.lost)} places (${row.run})`).join(", ")}. All are in the tables below.`,
    spec: {
      data: { values: all.filter((row) => names.includes(label(row))).map((row) => ({ what: label(row), run: row.run, lost: row.lost, text: row.source_text.trim() })) },
      height: { step: observed.length > 1 ? 12 : 20 },
      mark: { type: "bar" },
      encoding: {
        y: { field: "what", type: "nominal", sort: names, title: null },
        ...(observed.length > 1 ? { yOffset: { field: "run", sort: observed.map((run) => run.name) } } : {}),
        x: { field: "lost", type: "quantitative", title: "places", axis: { format: "~s" } },
        color: { field: "run", type: "nominal", title: null, sort: observed.map((run) => run.name), scale: { range: colours },
          legend: observed.length > 1 ? { orient: "top" } : null },
        tooltip: [{ field: "run" }, { field: "what" }, { field: "text" }, { field: "lost", format: "," }],
      },
    },
  })] : [];
  for (const run of observed) {
    const rows = ofRun(run);
    if (runs.length > 1) parts.push(make("h3", {}, run.name));
    if (!rows.length) {
      parts.push(make("p", {}, "No branch was divergent."));
      continue;
    }
    const worst = rows[0];
    parts.push(make("p", {}, "Most is lost at ", make("code", {}, worst.source || worst.ptx),
      `, which empties ${whole(worst.lost)} places for threads and parts ${percent(worst.parted, worst.issues)} of its warps; ` +
      `until its threads meet again, ${percent(worst.empty, worst.places)} of all places are empty.`));
    parts.push(table({
      caption: `Branches whose threads parted${runs.length > 1 ? ` under ${run.name}` : ""}`,
      columns: [
        { name: "source", tight: true, value: (row) => row.source || row.ptx },
        { name: "pc", number: true, value: (row) => row.pc },
        { name: "emptied", title: "places for threads that this branch emptied", number: true, value: (row) => row.lost, text: (row) => whole(row.lost) },
        { name: "empty", title: "share of the places until its threads reconverge, for any reason", number: true, value: (row) => row.empty / row.places,
          text: (row) => percent(row.empty, row.places), heat: (row) => row.empty / row.places },
        { name: "executed", title: "warp instructions", number: true, value: (row) => row.issues, text: (row) => whole(row.issues) },
        { name: "diverged", number: true, value: (row) => row.parted / row.issues, text: (row) => percent(row.parted, row.issues) },
        { name: "taken by", title: "share of its threads that take it", number: true, value: (row) => row.taken / row.threads, text: (row) => percent(row.taken, row.threads) },
        { name: "code", code: true, value: (row) => row.source_text.trim() },
        { name: "PTX line", tight: true, value: (row) => row.ptx },
        { name: "PTX", code: true, value: (row) => row.ptx_text.trim() },
      ],
      rows, tall: rows.length > 20,
    }));
  }
  return parts;
}

export function code(runs) {
  const observed = runs.filter((run) => run.profile);
  if (!observed.length) return [missing("sm.observe.instructions=true")];
  const parts = [make("p", {}, "Cycles are those of schedulers. A cycle with issues counts for the first instruction issued. " +
    "A cycle without an issue counts for the instruction that the scheduler issues next, for which it waited.")];
  let first = true;
  for (const run of observed) {
    for (const kernel of run.profile.kernels) {
      for (const [view, name] of [["source", "source lines"], ["ptx", "PTX lines"]]) {
        if (!kernel[view].some((line) => line.line)) continue; // the code does not name its source
        const heading = `${runs.length > 1 ? `${run.name}: ` : ""}${kernel.name}, ${name}`;
        parts.push(make("details", first ? { open: "" } : {}, make("summary", {}, heading), codeTable(heading, kernel, kernel[view])));
        first = false;
      }
    }
  }
  return parts;
}

function codeTable(caption, kernel, lines) {
  const files = new Set(lines.map((line) => line.file).filter(Boolean));
  const all = sum(kernel.sum.cycles);
  const most = Math.max(...lines.map((line) => sum(line.cycles ?? [])), 1);
  const counted = lines.filter((line) => line.cycles);
  const rows = [...lines, { ...kernel.rest, file: "", line: null, text: "(no instruction: no threads, or after the last issue)", rest: true }];
  const cyclesOf = (row) => sum(row.cycles ?? []);
  const stallOf = (row) => {
    const stalls = (row.cycles ?? []).slice(1);
    const largest = Math.max(...stalls, 0);
    return largest ? `${buckets[stalls.indexOf(largest) + 1].replaceAll("_", " ")} ${percent(largest, sum(stalls), 0)}` : "";
  };
  const cell = (row, key) => (row.cycles && !row.rest && row[key] ? whole(row[key]) : "");
  return table({
    caption: `${caption}${files.size === 1 ? ` (${[...files][0]})` : ""}: ${counted.length} lines`,
    columns: [
      { name: "line", number: true, value: (row) => row.line ?? Infinity, text: (row) => (files.size > 1 && row.file ? `${row.file.split("/").pop()}:${row.line}` : row.line || "") },
      { name: "code", code: true, value: (row) => row.text, text: (row) => row.text.replaceAll("\t", "  ") || (row.line === 0 ? "(no line)" : row.line ? "" : row.text) },
      { name: "cycles", number: true, value: cyclesOf, text: (row) => (row.cycles ? whole(cyclesOf(row)) : ""), heat: (row) => (row.rest ? 0 : cyclesOf(row) / most) },
      { name: "share", number: true, value: cyclesOf, text: (row) => (row.cycles ? percent(cyclesOf(row), all) : "") },
      { name: "issues", number: true, value: (row) => row.issues ?? 0, text: (row) => cell(row, "issues") },
      { name: "lanes", title: "lane activity", number: true, value: (row) => row.lane_activity ?? 0, text: (row) => (row.active_beats ? percent(row.lane_activity ?? 0) : "") },
      { name: "waits for", tight: true, value: stallOf },
      { name: "threads", title: "accesses of threads to global and local memory", number: true, value: (row) => row.memory_threads ?? 0, text: (row) => cell(row, "memory_threads") },
      { name: "requests", number: true, value: (row) => row.coalesced_requests ?? 0, text: (row) => cell(row, "coalesced_requests") },
      { name: "left the SM", number: true, value: (row) => row.data_requests ?? 0, text: (row) => (row.data_requests ? whole(row.data_requests) : "") },
    ],
    rows, tall: true, plain: true, quiet: (row) => !row.cycles,
    foot: ["", "sum", whole(all), percent(all, all), whole(kernel.sum.issues), percent(kernel.sum.lane_activity ?? 0), "", whole(kernel.sum.memory_threads),
      whole(kernel.sum.coalesced_requests), whole(kernel.sum.data_requests)],
  });
}
