// Tables that sort by a click or a key press on a heading.
import { make } from "./format.js";

// columns: [{ name, value(row), text(row), number, code, tight, wide, heat(row), title }]; `value` sorts, `text` shows, `heat`
// is a share from 0 to 1 behind the cell, `tight` text is not broken into lines, `wide` text has room. The first column heads its row unless `plain`. `foot`: a row of texts.
export function table({ caption, columns, rows, foot = null, tall = false, plain = false, quiet = () => false }) {
  const body = make("tbody");
  const fill = (list) => body.replaceChildren(...list.map((row) => rowOf(columns, row, plain, quiet(row))));
  const headings = columns.map((column) => {
    const button = make("button", { type: "button", title: column.title }, column.name);
    const heading = make("th", { scope: "col", class: column.number ? "number" : null, "aria-sort": "none" }, button);
    button.addEventListener("click", () => {
      const descending = heading.getAttribute("aria-sort") === "none" ? Boolean(column.number)
        : heading.getAttribute("aria-sort") === "ascending";
      for (const other of headings) other.setAttribute("aria-sort", "none");
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      fill([...rows].sort((a, b) => (descending ? -1 : 1) * compare(valueOf(column, a), valueOf(column, b))));
    });
    return heading;
  });
  fill(rows);
  const element = make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...headings)), body);
  if (foot) {
    const cells = foot.map((text, i) =>
      i === 0 ? make("th", { scope: "row" }, text) : make("td", { class: columns[i].number ? "number" : null }, text));
    element.append(make("tfoot", {}, make("tr", { class: "sum" }, ...cells)));
  }
  return make("div", { class: tall ? "scroll tall" : "scroll", tabindex: "0", role: "region", "aria-label": caption }, element);
}

function rowOf(columns, row, plain, quiet) {
  const cells = columns.map((column, i) => {
    const text = column.text ? column.text(row) : String(valueOf(column, row) ?? "");
    const classes = [column.number ? "number" : "", column.code ? "code" : "", column.tight ? "tight" : "", column.wide ? "wide" : "", column.heat ? "heat" : ""].join(" ").trim();
    const head = i === 0 && !plain;
    const cell = make(head ? "th" : "td", { class: classes || null, scope: head ? "row" : null },
      column.code ? make("code", {}, text) : text);
    if (column.heat) cell.style.setProperty("--share", `${(100 * column.heat(row)).toFixed(1)}%`);
    return cell;
  });
  return make("tr", { class: quiet ? "quiet" : null }, ...cells);
}

function valueOf(column, row) {
  return column.value(row);
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a ?? "").localeCompare(String(b ?? ""), "en", { numeric: true });
}
