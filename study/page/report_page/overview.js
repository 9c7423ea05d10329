// What the runs are, what bounds them, and how they compare.
import { bars, colours } from "./charts.js";
import { fixed, make, percent, whole, withPrefix } from "./format.js";
import { table } from "./table.js";

export function title(runs) {
  const workloads = [...new Set(runs.map((run) => run.workload).filter(Boolean))];
  return (workloads.length ? workloads.join(", ") : "CUDA program") + (runs.length > 1 ? `: ${runs.length} runs` : "");
}

// What is the same in all runs stands above the table, not in it.
export function overview(model) {
  const runs = model.runs;
  const first = runs[0].numbers.cycles;
  const energies = runs.some((run) => run.energy);
  const common = [], different = [];
  for (const [name, of] of [
    ["workload", (run) => `${run.workload} ${run.size}`.trim()], ["configuration", (run) => run.config],
    ["scheme", (run) => run.scheme], ["result", (run) => run.result]]) {
    const same = runs.every((run) => of(run) === of(runs[0]));
    if (!same) different.push({ name, value: of });
    if (same && of(runs[0])) common.push(make("dt", {}, name), make("dd", {}, of(runs[0])));
  }
  const columns = [
    { name: "run", value: (run) => run.name },
    ...different,
    { name: "core cycles", number: true, value: (run) => run.numbers.cycles, text: (run) => whole(run.numbers.cycles) },
    ...(runs.length > 1 ? [{ name: "speed-up", number: true, title: "cycles of the first run over cycles",
      value: (run) => first / run.numbers.cycles, text: (run) => fixed(first / run.numbers.cycles, 2) }] : []),
    ...["ipc", "lane_activity", "simd_efficiency"].map((name) => model.measures.find((one) => one.name === name))
      .map((measure) => ({ name: measure.heading, number: true, title: measure.meaning,
        value: (run) => run.numbers[measure.name], text: (run) => derivedText(measure, run.numbers[measure.name]) })),
    ...(energies ? [{ name: "energy", number: true, value: (run) => run.energy?.joules ?? 0,
      text: (run) => (run.energy ? withPrefix(run.energy.joules, "J") : "–") }] : []),
  ];
  return [make("dl", { class: "facts" }, ...common), table({ caption: "The runs", columns, rows: runs })];
}

function derivedText(measure, value) {
  return measure.unit === "ratio" ? percent(value) : fixed(value, measure.digits);
}

// Every share and rate that a run has, as its table defines it.
export function derived(model) {
  const runs = model.runs;
  const rows = model.measures.filter((measure) => runs.some((run) => run.numbers[measure.name] !== undefined));
  if (!rows.length) return [];
  return [table({
    caption: "Shares and rates",
    columns: [
      { name: "value", tight: true, value: (row) => row.heading },
      ...runs.map((run) => ({ name: runs.length > 1 ? run.name : "of the run", number: true, value: (row) => run.numbers[row.name],
        text: (row) => (run.numbers[row.name] === undefined ? "–" : derivedText(row, run.numbers[row.name])) })),
      { name: "unit", tight: true, value: (row) => row.unit },
      { name: "meaning", wide: true, value: (row) => row.meaning },
      { name: "name in files", code: true, value: (row) => row.name },
      { name: "formula", code: true, value: (row) => row.formula },
    ],
    rows,
  })];
}

export function bounds(runs) {
  const list = make("ul", { class: "bounds" }, ...runs.map((run) =>
    make("li", {}, make("strong", {}, `${run.name}: `), run.bound ? `bound by ${run.bound.text}` : "unknown",
      run.bound?.waits ? make("div", { class: "muted" }, `Schedulers: ${run.bound.waits}.`) : null)));
  const rows = [];
  for (const run of runs) {
    for (const use of Object.values(run.utilisation ?? {})) {
      rows.push({ run: run.name, resource: use.name, ...use });
    }
  }
  if (!rows.length) return [list];
  rows.sort((a, b) => b.busiest - a.busiest);
  const busy = rows.filter((row) => row.busiest >= 0.005);
  const names = [...new Set(busy.map((row) => row.resource))];
  return [list,
    bars({
      caption: "Utilisation of the busiest part of each kind, in % of its cycles",
      says: `Busiest parts: ${busy.slice(0, 4).map((row) => `${row.resource} ${percent(row.busiest)} (${row.run})`).join(", ")}. All values are in the table below.`,
      spec: {
        data: { values: busy.map((row) => ({ ...row, share: 100 * row.busiest })) },
        height: { step: runs.length > 1 ? 12 : 20 },
        mark: { type: "bar", tooltip: true },
        encoding: {
          y: { field: "resource", type: "nominal", sort: names, title: null },
          ...(runs.length > 1 ? { yOffset: { field: "run", sort: runs.map((run) => run.name) } } : {}),
          x: { field: "share", type: "quantitative", title: "% of cycles", scale: { domain: [0, 100] } },
          color: { field: "run", type: "nominal", title: null, sort: runs.map((run) => run.name),
            scale: { range: colours }, legend: runs.length > 1 ? { orient: "top" } : null },
        },
      },
    }),
    table({
      caption: "How busy the parts were",
      columns: [
        { name: "part", tight: true, value: (row) => row.resource },
        ...(runs.length > 1 ? [{ name: "run", value: (row) => row.run }] : []),
        { name: "busiest", number: true, value: (row) => row.busiest, text: (row) => percent(row.busiest), heat: (row) => row.busiest },
        { name: "mean", number: true, value: (row) => row.mean, text: (row) => percent(row.mean) },
        { name: "of", number: true, value: (row) => row.instances, text: (row) => whole(row.instances) },
        { name: "the busiest is number", number: true, value: (row) => row.which, text: (row) => whole(row.which) },
      ],
      rows: busy,
    })];
}

export function differences(model) {
  if (model.runs.length < 2) return [];
  if (!model.differences.length) return [make("p", {}, "The configurations of the runs are the same.")];
  return [table({
    caption: "Keys of the configurations whose values differ",
    columns: [
      { name: "key", value: (row) => row.key },
      ...model.runs.map((run, i) => ({ name: run.name, value: (row) => row.values[i],
        text: (row) => (row.values[i] === null ? "–" : JSON.stringify(row.values[i])) })),
    ],
    rows: model.differences,
  })];
}
