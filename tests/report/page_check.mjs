// Checks a page of `weft report` in headless Chromium, through the DevTools protocol over a pipe:
//   node page_check.mjs [--without-charts] [--text=WHAT THE PAGE HAS TO SAY] PAGE.html
// Prints what is wrong; the exit code is 1 then.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const withCharts = !process.argv.includes("--without-charts");
const wanted = process.argv.find((word) => word.startsWith("--text="))?.slice("--text=".length) ?? "";
const page = pathToFileURL(resolve(process.argv.at(-1))).href;
const profile = mkdtempSync(join(tmpdir(), "weft-page-"));
const wrong = [];
const expect = (holds, what) => holds || wrong.push(what);

const browser = spawn("chromium", ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
  "--disable-background-networking", "--remote-debugging-pipe", `--user-data-dir=${profile}`, "--window-size=1280,900"],
{ stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const ended = new Promise((done) => browser.on("exit", done));
browser.on("error", (error) => {
  console.log(`chromium cannot be started (${error.message}); it is in the section [test] of packages.txt`);
  process.exit(1);
});

// Messages are JSON with a zero byte behind each.
let last = 0, session;
const waiting = new Map(), events = [];
let text = "";
browser.stdio[4].setEncoding("utf8").on("data", (more) => {
  const parts = (text + more).split("\0");
  text = parts.pop();
  for (const message of parts.map((part) => JSON.parse(part))) {
    if (!message.id) events.push(message);
    else if (message.error) waiting.get(message.id)[1](new Error(message.error.message));
    else waiting.get(message.id)[0](message.result);
  }
});
const call = (method, params = {}) => new Promise((done, fail) => {
  waiting.set(++last, [done, fail]);
  browser.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId: session })}\0`);
});
const ask = async (expression) => {
  const { result, exceptionDetails } = await call("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? expression);
  return result.value;
};
const key = async (name, code) => {
  await call("Input.dispatchKeyEvent", { type: "keyDown", key: name, code: name, windowsVirtualKeyCode: code, text: name === "Enter" ? "\r" : undefined });
  await call("Input.dispatchKeyEvent", { type: "keyUp", key: name, code: name, windowsVirtualKeyCode: code });
};

async function open() {
  const before = events.length;
  await call("Page.navigate", { url: page });
  for (let tries = 0; tries < 300; ++tries) {
    if (await ask("document.readyState === 'complete' && document.documentElement?.dataset.drawn === 'true'")) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`the page is not drawn after 30 s; ${JSON.stringify(events.slice(before).filter((event) => /exception|entryAdded/.test(event.method))).slice(0, 2000)}`);
}

async function check() {
  const { targetId } = await call("Target.createTarget", { url: "about:blank" });
  session = (await call("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  for (const domain of ["Page", "Runtime", "Network", "Log"]) await call(`${domain}.enable`);
  await open();

  // Charts: something is drawn in each, and each says what it shows.
  const charts = await ask(`[...document.querySelectorAll(".chart")].map((chart) => {
    const canvas = chart.querySelector("canvas");
    const painted = canvas && canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean);
    const marks = [...chart.querySelectorAll(".mark-rect path")].filter((mark) => mark.getBBox().width > 0).length;
    return { says: chart.getAttribute("aria-label"), canvas: Boolean(canvas), painted, marks };
  })`);
  if (withCharts) {
    expect(charts.filter((chart) => !chart.canvas).length >= 6, `found ${charts.length} charts, of which fewer than 6 of bars`);
    expect(charts.filter((chart) => chart.canvas).length >= 4, "fewer than 4 charts are series over time");
    for (const chart of charts) expect(chart.canvas ? chart.painted : chart.marks > 0, `nothing is drawn in the chart '${chart.says}'`);
    for (const chart of charts) expect(chart.says?.length > 20, "a chart has no text in its place");
  } else {
    expect(charts.length === 0 && (await ask("document.body.textContent.includes('without the chart libraries')")), "the page does not say that charts are missing");
  }

  // Structure: one h1, no level left out, every table with a caption and headings.
  const levels = await ask("[...document.querySelectorAll('h1, h2, h3')].map((heading) => Number(heading.tagName[1]))");
  expect(levels.filter((level) => level === 1).length === 1 && levels[0] === 1, "there is not one h1");
  levels.forEach((level, i) => expect(i === 0 || level <= levels[i - 1] + 1, "a level of headings is left out"));
  expect(await ask("[...document.querySelectorAll('table:not(.u-legend)')].every((table) => table.caption?.textContent && table.querySelector('thead th[scope=col]'))"), "a table has no caption or no headings");
  expect(await ask("document.querySelectorAll('table').length >= 10"), "there are fewer than 10 tables");
  const sections = ["bounds", "cycles", "divergence", "stalled", "occupancy", "coalescing", "caches", "dram", "energy", "kernels", "lines"];
  for (const id of sections) expect(await ask(`(document.querySelector("#${id} table")?.rows.length ?? 0) > 1`), `the section ${id} has no table`);

  // Sorting by a click, then back by the keyboard.
  await ask(`{ const heading = [...document.querySelectorAll("#lines thead th")].find((one) => one.textContent === "cycles"); heading.id = "sorted"; heading.firstChild.click(); }`);
  const column = `[...document.querySelectorAll("#lines table")][0].tBodies[0].querySelectorAll("tr")`;
  const values = `[...${column}].map((row) => Number(row.cells[document.getElementById("sorted").cellIndex].textContent.replaceAll(",", "")))`;
  const down = await ask(values);
  expect(down.every((value, i) => i === 0 || value <= down[i - 1]) && down[0] > down.at(-1), "a click on a heading does not sort downwards");
  expect((await ask("document.getElementById('sorted').getAttribute('aria-sort')")) === "descending", "aria-sort does not say how it is sorted");
  await ask("document.getElementById('sorted').firstChild.focus()");
  await key("Enter", 13);
  const up = await ask(values);
  expect(up.every((value, i) => i === 0 || value >= up[i - 1]) && up[0] < up.at(-1), "Enter on a heading does not sort upwards");

  // The keyboard comes in at the way past the header.
  await ask("document.activeElement.blur(); scrollTo(0, 0)");
  await open();
  await key("Tab", 9);
  expect(await ask("document.activeElement.className === 'skip'"), "the first thing that Tab reaches is not the way to the results");

  // Two runs beside each other (in the page of the test with charts).
  const told = await ask("document.body.textContent");
  if (withCharts) {
    expect(/speed-up/.test(told) && (await ask("document.querySelectorAll('main > .scroll tbody tr').length")) === 2, "the two runs are not beside each other");
    expect(await ask("document.querySelector('#differences tbody').textContent.includes('warp_formation/scheme')"), "what differs in the configurations is not shown");
    expect(told.includes(wanted), `the page does not say '${wanted}'`);
  }
  expect((await ask("document.querySelectorAll('img, main script').length")) === 0, "text became markup");
  expect(/the buckets sum to [\d,]+, which is [\d,]+ core cycles/i.test(told), "the page does not say that the cycles sum");

  // Dark: text stands out from its background. A phone: nothing is wider than the screen. Paper: it prints.
  for (const scheme of ["light", "dark"]) {
    await call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    const [text, ground] = await ask("['color', 'backgroundColor'].map((name) => getComputedStyle(document.body)[name].match(/\\d+/g).map(Number))");
    expect(contrast(text, ground) >= 7, `${scheme}: contrast of text is ${contrast(text, ground).toFixed(1)}`);
    expect((luminance(ground) < 0.2) === (scheme === "dark"), `${scheme}: the background is not`);
  }
  await call("Emulation.setDeviceMetricsOverride", { width: 390, height: 844, deviceScaleFactor: 2, mobile: true });
  await open();
  const width = await ask("document.documentElement.scrollWidth");
  expect(width <= 390, `on a phone of 390 pixels the page is ${width} wide`);
  const { data } = await call("Page.printToPDF", { printBackground: true });
  expect(Buffer.from(data, "base64").subarray(0, 5).toString() === "%PDF-" && data.length > 50000, "the page does not print");

  // No errors, and nothing is asked for but the page.
  for (const { method, params } of events) {
    if (method === "Runtime.exceptionThrown") wrong.push(`exception: ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) wrong.push(`console: ${params.args.map((one) => one.value ?? one.description).join(" ")}`);
    if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) wrong.push(`log: ${params.entry.text} ${params.entry.url ?? ""}`);
    if (method === "Network.requestWillBeSent" && params.request.url !== page) wrong.push(`request: ${params.request.url.slice(0, 200)}`);
  }
}

function luminance(colour) {
  const [r, g, b] = colour.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a, b) {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

const patience = setTimeout(() => {
  console.log("the browser does not answer");
  browser.kill("SIGKILL");
  process.exit(1);
}, 100000);
try {
  await check();
} catch (error) {
  wrong.push(error.message);
}
clearTimeout(patience);
browser.kill();
await ended;
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
for (const line of wrong) console.log(line);
process.exit(wrong.length ? 1 : 0);
