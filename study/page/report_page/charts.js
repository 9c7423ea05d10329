// Charts: Vega-Lite for bars, uPlot for long series. Without these libraries (a build without npm) there are none;
// every chart stands beside a table that says the same.
import { make } from "./format.js";

// Colours that people who are colour-blind can tell apart (Okabe and Ito, with three of Tol's for the rest).
export const bucketColours = {
  issued: "#0072b2",
  unit_busy: "#56b4e9",
  memory_busy: "#d55e00",
  memory: "#e69f00",
  dependence: "#f0e442",
  control: "#cc79a7",
  fetch: "#882255",
  barrier: "#44aa99",
  reconvergence: "#009e73",
  scheme: "#332288",
  empty: "#bbbbbb",
};
export const colours = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#f0e442", "#882255", "#44aa99",
  "#332288", "#999999", "#117733"];
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

const pending = [];

// When all charts made so far are drawn.
export function drawn() {
  return Promise.all(pending);
}

const vegaConfig = {
  background: null,
  font: 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif',
  axis: { labelColor: "currentColor", titleColor: "currentColor", domainColor: "currentColor", tickColor: "currentColor",
    gridColor: "currentColor", gridOpacity: 0.15, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 220 },
  legend: { labelColor: "currentColor", titleColor: "currentColor", labelFontSize: 12, titleFontSize: 12, labelLimit: 260 },
  header: { labelColor: "currentColor", titleColor: "currentColor" },
  view: { stroke: null },
};

// `says`: what the chart shows, for who does not see it.
export function bars({ caption, says, spec }) {
  if (typeof vegaEmbed === "undefined") return null;
  const place = make("div", { class: "chart", role: "img", "aria-label": says });
  const full = { $schema: "https://vega.github.io/schema/vega-lite/v6.json", description: says, width: "container",
    autosize: { type: "fit-x", contains: "padding" }, ...spec };
  // Drawn when the place has its width, which a closed <details> does not give it.
  const draw = () => vegaEmbed(place, full, { actions: false, renderer: "svg", ast: true, config: vegaConfig, logLevel: vega.Error });
  whenShown(place, draw);
  return make("figure", {}, place, make("figcaption", {}, caption));
}

// series: [{ name, values, colour }] over `cycles`; each line with a dash of its own besides its colour.
// `until`: the last cycle of the axis, so that runs beside each other have the same.
export function lines({ caption, says, cycles, until, series, unit }) {
  if (typeof uPlot === "undefined") return null;
  const place = make("div", { class: "chart", role: "img", "aria-label": says });
  let plot = null;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const draw = () => {
    const text = getComputedStyle(document.body).color;
    const axis = { stroke: text, grid: { stroke: "#80808040" }, ticks: { stroke: "#80808080" } };
    const options = {
      width: Math.max(place.clientWidth, 200),
      height: 260,
      scales: { x: { time: false, range: [0, until] } },
      legend: { live: false },
      axes: [{ ...axis, label: "core cycle", space: 90 }, { ...axis, label: unit, size: 70 }],
      series: [{ label: "cycle" }, ...series.map((one, i) => ({ label: one.name, stroke: one.colour, width: 2,
        dash: dashes[Math.floor(i / 3) % dashes.length], points: { show: cycles.length < 3 } }))],
    };
    plot?.destroy();
    plot = new uPlot(options, [cycles, ...series.map((one) => one.values)], place);
    return Promise.resolve();
  };
  whenShown(place, draw);
  dark.addEventListener("change", draw);
  addEventListener("resize", () => plot?.setSize({ width: Math.max(place.clientWidth, 200), height: 260 }));
  return make("figure", {}, place, make("figcaption", {}, caption));
}

function whenShown(place, draw) {
  pending.push(new Promise((resolve, reject) => {
    const begin = () => requestAnimationFrame(() => draw().then(resolve, reject));
    queueMicrotask(() => {
      const hidden = place.closest("details:not([open])");
      if (!hidden) return begin();
      resolve();
      hidden.addEventListener("toggle", begin, { once: true });
    });
  }));
}
