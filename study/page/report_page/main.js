// Puts the page together from the data in it.
import { branches, code, kernels } from "./code.js";
import { drawn } from "./charts.js";
import { cycles, note, occupancy, stalled } from "./cycles.js";
import { make } from "./format.js";
import { caches, coalescing, dram, energy } from "./memory.js";
import { bounds, derived, differences, overview, title } from "./overview.js";

const model = JSON.parse(document.getElementById("data").textContent);
const runs = model.runs;

const sections = [
  ["bounds", "What bounds the runs", () => bounds(runs)],
  ["cycles", "Where the cycles went", () => cycles(runs)],
  ["divergence", "Divergence", () => branches(runs)],
  ["stalled", "Stalled threads", () => stalled(runs)],
  ["occupancy", "Occupancy", () => occupancy(runs)],
  ["coalescing", "Coalescing", () => coalescing(runs)],
  ["caches", "Caches", () => caches(runs)],
  ["dram", "DRAM", () => dram(runs)],
  ["energy", "Energy", () => energy(runs)],
  ["kernels", "Kernels", () => kernels(runs)],
  ["lines", "Source and PTX", () => code(runs)],
  ["derived", "Shares and rates", () => derived(model)],
  ...(runs.length > 1 ? [["differences", "What differs in the configurations", () => differences(model)]] : []),
];

document.getElementById("top").append(
  make("h1", {}, title(runs)),
  make("p", { class: "muted" }, `Written by weft ${model.weft} report from ${runs.map((run) => run.folder).join(", ")}.`),
  make("nav", { "aria-label": "Sections" }, make("ul", {}, ...sections.map(([id, name]) => make("li", {}, make("a", { href: `#${id}` }, name))))));

const main = document.getElementById("main");
main.replaceChildren(...overview(model));
if (typeof vegaEmbed === "undefined") {
  main.prepend(note("This page was written without the chart libraries (npm was missing when weft was built); the tables have all numbers."));
}
for (const [id, name, content] of sections) {
  const heading = make("h2", { id: `${id}-heading` }, name);
  main.append(make("section", { id, "aria-labelledby": `${id}-heading` }, heading, ...content().filter(Boolean)));
}
// All of the code is printed.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => (one.open = true)));

// For tests: the page says when it is done.
await drawn();
document.documentElement.dataset.drawn = "true";
