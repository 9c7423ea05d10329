// Numbers as text, and elements whose content is always text, never markup.

export function whole(value) {
  return value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en-US");
}

export function fixed(value, digits = 3) {
  return value === null || value === undefined || !Number.isFinite(value)
    ? "–"
    : value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function percent(part, all = 1, digits = 1) {
  return all ? `${fixed((100 * part) / all, digits)} %` : "–";
}

// 0.00179 with "J" is "1.79 mJ".
export function withPrefix(value, unit) {
  const prefixes = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]];
  const [scale, prefix] = prefixes.find(([size]) => Math.abs(value) >= size) ?? [1, ""];
  return `${fixed(value / scale, 2)} ${prefix}${unit}`;
}

export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

// make("p", { class: "note" }, "text", element): null children are left out.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
