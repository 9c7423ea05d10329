// Coalescing, caches, DRAM; energy.
import { bars, colours } from "./charts.js";
import { missing, overTime, sharesTable, stackedShares } from "./cycles.js";
import { fixed, make, percent, whole, withPrefix } from "./format.js";
import { table } from "./table.js";

export function coalescing(runs) {
  const parts = [];
  for (const run of runs) {
    const rows = (run.profile?.kernels ?? []).flatMap((kernel) => kernel.memory.map((row) => ({ ...row, kernel: kernel.name })));
    if (!rows.length) continue;
    const global = rows.filter((row) => row.memory_threads);
    if (runs.length > 1) parts.push(make("h3", {}, run.name));
    const all = run.memory.threads;
    if (all) {
      parts.push(make("p", {}, `${whole(all)} accesses of threads to global and local memory became ${whole(run.memory.coalesced_requests)} requests ` +
        `(${fixed(run.numbers.threads_per_request, 1)} threads each); ${whole(run.memory.data_requests)} left the SMs.`));
      const top = [...global].sort((a, b) => b.coalesced_requests - a.coalesced_requests).slice(0, 15);
      const label = (row) => `${row.source.split("/").pop() || row.ptx} ${row.kind} (pc ${row.pc})`;
      parts.push(bars({
        caption: "Requests per warp instruction, of the instructions with most requests (1 is best, 32 worst for a warp of 32)",
        says: `Instructions with most requests: ${top.slice(0, 3).map((row) => `${label(row)}, ${fixed(row.coalesced_requests / row.issues, 1)} per warp instruction`).join("; ")}. All are in the table below.`,
        spec: {
          data: { values: top.map((row) => ({ what: label(row), requests: row.coalesced_requests / row.issues, text: row.source_text.trim() })) },
          height: { step: 20 },
          mark: { type: "bar", color: colours[0] },
          encoding: {
            y: { field: "what", type: "nominal", sort: null, title: null },
            x: { field: "requests", type: "quantitative", title: "requests per warp instruction" },
            tooltip: [{ field: "what" }, { field: "text" }, { field: "requests", format: ".2f" }],
          },
        },
      }));
    }
    parts.push(table({
      caption: `Memory instructions${runs.length > 1 ? ` of ${run.name}` : ""}`,
      columns: [
        { name: "source", tight: true, value: (row) => row.source || row.ptx },
        { name: "pc", number: true, value: (row) => row.pc },
        { name: "kind", tight: true, value: (row) => row.kind },
        { name: "warp instructions", number: true, value: (row) => row.issues, text: (row) => whole(row.issues) },
        { name: "threads", number: true, value: (row) => row.memory_threads, text: (row) => whole(row.memory_threads) },
        { name: "requests", number: true, value: (row) => row.coalesced_requests, text: (row) => whole(row.coalesced_requests) },
        { name: "threads per request", number: true, value: (row) => row.threads_per_request ?? 0,
          text: (row) => fixed(row.threads_per_request, 1) },
        { name: "per warp instruction", title: "requests per warp instruction", number: true, value: (row) => row.coalesced_requests / (row.issues || Infinity),
          text: (row) => (row.issues ? fixed(row.coalesced_requests / row.issues, 2) : "–") },
        { name: "left the SM", number: true, value: (row) => row.data_requests, text: (row) => whole(row.data_requests) },
        { name: "bank conflicts", number: true, title: "extra cycles of shared memory", value: (row) => row.shared_conflict_cycles, text: (row) => whole(row.shared_conflict_cycles) },
        { name: "PTX", code: true, value: (row) => row.ptx_text.trim() },
      ],
      rows, tall: rows.length > 20,
    }));
  }
  return parts.length ? parts : [missing("sm.observe.instructions=true")];
}

export function caches(runs) {
  const rows = runs.flatMap((run) => run.caches.map((cache) => ({ run: run.name, ...cache })));
  if (!rows.length) return [make("p", {}, "No cache was used.")];
  const values = rows.flatMap((row) => [["hits", row.hits], ["pending hits", row.pending_hits], ["misses", row.misses]]
    .map(([what, count], order) => ({ cache: runs.length > 1 ? `${row.name}, ${row.run}` : row.name, what, order, share: (100 * count) / row.accesses })));
  return [
    bars({
      caption: "Accesses of caches, in %",
      says: `${rows.map((row) => `${row.name}${runs.length > 1 ? ` of ${row.run}` : ""}: ${percent(row.hit_rate)} hits`).join("; ")}. All values are in the table below.`,
      spec: {
        data: { values },
        height: { step: 24 },
        mark: { type: "bar", tooltip: true, stroke: "white", strokeWidth: 0.5 },
        encoding: {
          y: { field: "cache", type: "nominal", sort: null, title: null },
          x: { field: "share", type: "quantitative", title: "%", scale: { domain: [0, 100] } },
          color: { field: "what", type: "nominal", title: null, scale: { domain: ["hits", "pending hits", "misses"], range: ["#0072b2", "#f0e442", "#d55e00"] }, legend: { orient: "bottom" } },
          order: { field: "order" },
        },
      },
    }),
    table({
      caption: "Caches, summed by kind",
      columns: [
        { name: "cache", tight: true, value: (row) => row.name },
        ...(runs.length > 1 ? [{ name: "run", value: (row) => row.run }] : []),
        ...["accesses", "hits", "pending_hits", "misses", "evictions"].map((key) => ({ name: key.replaceAll("_", " "), number: true,
          value: (row) => row[key], text: (row) => whole(row[key]) })),
        { name: "hit rate", number: true, value: (row) => row.hit_rate, text: (row) => percent(row.hit_rate), heat: (row) => row.hit_rate },
      ],
      rows,
    }),
  ];
}

export function dram(runs) {
  const rows = runs.flatMap((run) => run.dram.map((channel, number) => ({ run: run.name, number, ...channel })));
  if (!rows.length) return [make("p", {}, "There are no DRAM channels in these configurations, or they have no statistics.")];
  const values = runs.filter((run) => run.dram.length).map((run) => ({
    "row hits": total(run, "row_hits"), "row misses": total(run, "row_misses"), "row conflicts": total(run, "row_conflicts") }));
  const palette = { "row hits": "#0072b2", "row misses": "#f0e442", "row conflicts": "#d55e00" };
  return [
    make("ul", {}, ...runs.map((run) => make("li", {}, `${runs.length > 1 ? `${run.name}: ` : ""}${whole(total(run, "bytes_read"))} bytes read, ` +
      `${whole(total(run, "bytes_written"))} written; data moved in ${total(run, "active_cycles") ? percent(run.numbers.dram_efficiency) : "–"} of the cycles ` +
      "in which channels had work."))),
    stackedShares("Accesses of DRAM by the state of their row, in %", runs.filter((run) => run.dram.length), values, palette),
    table({
      caption: "DRAM channels",
      columns: [
        { name: "channel", value: (row) => row.number },
        ...(runs.length > 1 ? [{ name: "run", value: (row) => row.run }] : []),
        ...["reads", "writes", "bytes_read", "bytes_written", "row_hits", "row_misses", "row_conflicts", "data_cycles", "active_cycles", "queue_most"]
          .map((key) => ({ name: key.replaceAll("_", " "), number: true, value: (row) => row[key] ?? 0, text: (row) => whole(row[key] ?? 0) })),
        { name: "efficiency", title: "data cycles over active cycles", number: true, value: (row) => row.efficiency,
          text: (row) => (row.active_cycles ? percent(row.efficiency) : "–") },
      ],
      rows,
    }),
  ];
}

function total(run, key) {
  return run.dram.reduce((all, channel) => all + (channel[key] ?? 0), 0);
}

export function energy(runs) {
  const observed = runs.filter((run) => run.energy);
  if (!observed.length) return [missing("sm.observe.events=true")];
  const values = observed.map((run) => Object.fromEntries(Object.entries(run.energy.components).map(([name, joules]) => [name, joules * 1e9])));
  const names = Object.keys(values[0]);
  const palette = Object.fromEntries(names.map((name, i) => [name, colours[i % colours.length]]));
  const parts = [
    table({
      caption: "Energy",
      columns: [
        { name: "run", value: (run) => run.name },
        { name: "energy", number: true, value: (run) => run.energy.joules, text: (run) => withPrefix(run.energy.joules, "J") },
        { name: "low to high", value: (run) => `${withPrefix(run.energy.joules_low, "J")} to ${withPrefix(run.energy.joules_high, "J")}` },
        { name: "power", number: true, value: (run) => run.energy.watts, text: (run) => withPrefix(run.energy.watts, "W") },
        { name: "EDP in Js", number: true, value: (run) => run.energy.edp, text: (run) => run.energy.edp.toExponential(3) },
        { name: "figures", value: (run) => `${run.energy.technology}, ${run.energy.node_nm} nm` },
      ],
      rows: observed,
    }),
    stackedShares("Energy by part, in %", observed, values, palette),
    sharesTable("Energy by part", "part", observed, values, null, "nJ"),
  ];
  for (const run of observed.filter((one) => one.power)) {
    parts.push(...overTime(run, observed, `Power over time${runs.length > 1 ? `: ${run.name}` : ""}`, "W",
      [{ name: "power", colour: colours[0], values: run.power.columns.power_w }], "power"));
  }
  return parts;
}
