// Where the cycles of the schedulers went, and what threads waited for.
import { bars, bucketColours, colours, lines } from "./charts.js";
import { make, percent, sum, whole } from "./format.js";
import { table } from "./table.js";

export const bucketMeaning = {
  issued: "an instruction was issued",
  unit_busy: "a ready warp waited for its unit or its scheduler's issue port",
  memory_busy: "a ready warp waited for the load-store unit",
  memory: "operands waited for loads",
  dependence: "operands waited for arithmetic",
  control: "branches were being resolved",
  fetch: "instruction buffers were empty",
  barrier: "threads waited at a block barrier",
  reconvergence: "threads waited for others of their warp",
  scheme: "threads were inside the scheme's tables",
  empty: "there were no threads",
};

// Values of several runs by name: a column of numbers and one of shares for each run, and a row of sums.
export function sharesTable(caption, first, runs, values, meaning = null, unit = "cycles") {
  const totals = values.map((one) => sum(Object.values(one)));
  const names = [...new Set(values.flatMap((one) => Object.keys(one)))].filter((name) => values.some((one) => one[name]));
  const columns = [{ name: first, tight: true, value: (name) => name, text: (name) => name.replaceAll("_", " ") }];
  runs.forEach((run, i) => {
    const of = runs.length > 1 ? `${run.name}: ` : "";
    columns.push({ name: `${of}${unit}`, number: true, value: (name) => values[i][name] ?? 0, text: (name) => whole(values[i][name] ?? 0) });
    columns.push({ name: `${of}share`, number: true, value: (name) => (values[i][name] ?? 0) / totals[i],
      text: (name) => percent(values[i][name] ?? 0, totals[i]), heat: (name) => (values[i][name] ?? 0) / totals[i] });
  });
  if (meaning) columns.push({ name: "meaning", tight: true, value: (name) => meaning[name] ?? "" });
  const foot = ["sum", ...totals.flatMap((total) => [whole(total), percent(total, total)]), ...(meaning ? [""] : [])];
  return table({ caption, columns, rows: names, foot });
}

export function stackedShares(caption, runs, values, palette) {
  const rows = [];
  const totals = values.map((one) => sum(Object.values(one)));
  const names = Object.keys(palette).filter((name) => values.some((one) => one[name]));
  runs.forEach((run, i) => names.forEach((name, order) => {
    if (values[i][name]) rows.push({ run: run.name, what: name, order, share: (100 * values[i][name]) / totals[i] });
  }));
  const largest = runs.map((run, i) => {
    const name = names.reduce((most, other) => ((values[i][other] ?? 0) > (values[i][most] ?? 0) ? other : most), names[0]);
    return `${run.name}: most is ${name}, ${percent(values[i][name], totals[i])}`;
  });
  return bars({
    caption,
    says: `${caption}. ${largest.join("; ")}. All values are in the table below.`,
    spec: {
      data: { values: rows },
      height: { step: 34 },
      mark: { type: "bar", tooltip: true, stroke: "white", strokeWidth: 0.5 },
      encoding: {
        y: { field: "run", type: "nominal", title: null, sort: runs.map((run) => run.name), axis: runs.length > 1 ? {} : null },
        x: { field: "share", type: "quantitative", title: "%", scale: { domain: [0, 100] } },
        color: { field: "what", type: "nominal", title: null, scale: { domain: names, range: names.map((name) => palette[name]) },
          legend: { orient: "bottom", columns: innerWidth < 640 ? 2 : 5 } },
        order: { field: "order" },
      },
    },
  });
}

export function cycles(runs) {
  const values = runs.map((run) => run.buckets);
  const parts = [
    make("p", {}, "Every cycle of every scheduler is in one bucket."),
    make("ul", {}, ...runs.map((run, i) => {
      const total = sum(Object.values(values[i]));
      const all = run.numbers.cycles * run.schedulers;
      const same = total === all ? "which is" : "beside";
      return make("li", {}, `${runs.length > 1 ? `${run.name}: t` : "T"}he buckets sum to ${whole(total)}, ${same} ` +
        `${whole(run.numbers.cycles)} core cycles × ${whole(run.schedulers)} schedulers${total === all ? "" : ` = ${whole(all)}`}.`);
    })),
    stackedShares("Cycles of schedulers by activity, in %", runs, values, bucketColours),
    sharesTable("Cycles of schedulers", "bucket", runs, values, bucketMeaning),
  ];
  if (runs.some((run) => run.buckets.memory_busy)) {
    parts.push(make("h3", {}, "What blocked the load-store unit"),
      sharesTable("Cycles of memory_busy by cause", "held up by", runs, runs.map((run) => run.memory_busy ?? {})));
    if (runs.some((run) => sum(Object.values(run.waited_in ?? {})))) {
      parts.push(sharesTable("Blocked cycles by where the awaited request was", "place", runs, runs.map((run) => run.waited_in ?? {})));
    }
  }
  for (const run of runs.filter((one) => one.series)) {
    const columns = run.series.columns;
    const names = Object.keys(bucketColours).filter((name) => columns[`cycles_${name}`]?.some(Boolean));
    const totals = run.series.cycle.map((_, i) => sum(names.map((name) => columns[`cycles_${name}`][i])));
    const series = names.map((name) => ({ name, colour: bucketColours[name],
      values: columns[`cycles_${name}`].map((value, i) => (totals[i] ? (100 * value) / totals[i] : 0)) }));
    parts.push(make("h3", {}, runs.length > 1 ? `Over time: ${run.name}` : "Over time"), ...overTime(run, runs, "Buckets over time, in % of the cycles of schedulers", "%", series));
  }
  return parts;
}

const stalledColours = { in_pipeline: "#0072b2", ready: "#56b4e9", barrier: "#e69f00", reconvergence: "#d55e00", inactive: "#cc79a7" };

export function stalled(runs) {
  const observed = runs.filter((run) => run.stalled);
  if (!observed.length) return [missing("sm.observe.stalled_threads=true")];
  const values = observed.map((run) => Object.fromEntries(Object.keys(stalledColours).map((name) => [name, run.stalled[name]])));
  const parts = [
    make("p", {}, "Threads by what they wait for, summed over the cycles in which no lane of their scheduler domain was active. " +
      "Reconvergence and inactive are what divergence holds back."),
    stackedShares("Stalled threads by what they wait for, in %", observed, values, stalledColours),
    sharesTable("Stalled threads", "waiting for", observed, values, null, "threads × cycles"),
  ];
  for (const run of observed.filter((one) => one.series?.columns.stalled_in_pipeline)) {
    const columns = run.series.columns;
    const series = Object.entries(stalledColours).filter(([name]) => columns[`stalled_${name}`].some(Boolean))
      .map(([name, colour]) => ({ name: name.replaceAll("_", " "), colour,
        values: columns[`stalled_${name}`].map((value, i) => value / Math.max(interval(run, i), 1)) }));
    parts.push(make("h3", {}, runs.length > 1 ? `Over time: ${run.name}` : "Over time"),
      ...overTime(run, runs, "Threads that are stalled, on average over each interval (all SMs)", "threads", series));
  }
  if (!parts.some((part) => part?.tagName === "H3")) parts.push(note("To see these values over time, sample the run: weft run --sample 500 ..."));
  return parts;
}

export function occupancy(runs) {
  const parts = [];
  const rows = runs.filter((run) => run.stalled).map((run) => ({ run: run.name,
    threads: run.stalled.launched_thread_cycles / (run.numbers.cycles * run.sms), most: run.max_threads }));
  if (rows.length) {
    parts.push(table({
      caption: "Threads of resident blocks of an SM, on average over all cycles",
      columns: [
        { name: "run", value: (row) => row.run },
        { name: "threads", number: true, value: (row) => row.threads, text: (row) => whole(row.threads) },
        { name: "of", number: true, value: (row) => row.most, text: (row) => whole(row.most) },
        { name: "share", number: true, value: (row) => row.threads / row.most, text: (row) => percent(row.threads, row.most), heat: (row) => row.threads / row.most },
      ],
      rows,
    }));
  }
  const shapes = runs.flatMap((run) => (run.profile?.kernels ?? []).filter((kernel) => kernel.shape)
    .map((kernel) => ({ run: run.name, most: run.max_threads, kernel: kernel.name, ...kernel.shape, name: kernel.name })));
  if (shapes.length) {
    parts.push(table({
      caption: "What an SM can hold of each kernel, as it was launched last",
      columns: [
        { name: "kernel", wide: true, value: (row) => row.name },
        ...(runs.length > 1 ? [{ name: "run", value: (row) => row.run }] : []),
        { name: "blocks", number: true, value: (row) => row.blocks_per_sm, text: (row) => whole(row.blocks_per_sm) },
        { name: "threads per block", number: true, value: (row) => row.threads_per_block, text: (row) => whole(row.threads_per_block) },
        { name: "occupancy", number: true, value: (row) => (row.blocks_per_sm * row.threads_per_block) / row.most,
          text: (row) => percent(row.blocks_per_sm * row.threads_per_block, row.most) },
        { name: "limited by", value: (row) => row.limited_by },
        { name: "registers per thread", number: true, value: (row) => row.registers_per_thread, text: (row) => whole(row.registers_per_thread) },
        { name: "shared bytes per block", number: true, value: (row) => row.shared_bytes_per_block, text: (row) => whole(row.shared_bytes_per_block) },
      ],
      rows: shapes,
    }));
  }
  for (const run of runs.filter((one) => one.series?.columns.live_threads)) {
    parts.push(...overTime(run, runs, `Live threads over time${runs.length > 1 ? `: ${run.name}` : ""} (all SMs)`, "threads",
      [{ name: "live threads", colour: colours[0], values: run.series.columns.live_threads }]));
  }
  return parts.length ? parts : [missing("sm.observe.stalled_threads=true sm.observe.instructions=true")];
}

function interval(run, i) {
  return run.series.cycle[i] - (i ? run.series.cycle[i - 1] : 0);
}

// A chart of long series and, folded, a table of at most 40 of their points.
export function overTime(run, runs, caption, unit, series, of = "series") {
  const cyclesOf = run[of].cycle;
  const until = Math.max(...runs.map((one) => one[of]?.cycle.at(-1) ?? 0));
  const step = Math.ceil(cyclesOf.length / 40);
  const points = cyclesOf.map((_, i) => i).filter((i) => i % step === step - 1 || i === cyclesOf.length - 1);
  const means = series.map((one) => `${one.name} ${whole(sum(one.values) / one.values.length)} on average, at most ${whole(Math.max(...one.values))}`);
  const rounded = (one, i) => Math.round(100 * one.values[i]) / 100;
  return [
    lines({ caption, says: `${caption}, in ${unit}: ${means.join("; ")}.`, cycles: cyclesOf, until, series, unit }),
    make("details", {}, make("summary", {}, "Values"), table({
      caption: `${caption}: ${step > 1 ? `one of ${step} points` : "all points"}`,
      columns: [{ name: "until cycle", value: (i) => cyclesOf[i], text: (i) => whole(cyclesOf[i]) },
        ...series.map((one) => ({ name: one.name, number: true, value: (i) => one.values[i], text: (i) => rounded(one, i).toLocaleString("en-US") }))],
      rows: points, tall: true,
    })),
  ];
}

export function note(text) {
  return make("p", { class: "note" }, text);
}

export function missing(settings) {
  return make("p", { class: "note" }, "Not observed in these runs. Run them with ", make("code", {}, `--set ${settings}`), ".");
}
