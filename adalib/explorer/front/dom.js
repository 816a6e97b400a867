// The document: small helpers for HTML and SVG. Text only ever enters as text.

/** An HTML element. Text only ever enters through textContent, so that a question can hold any characters. */
function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(Boolean));
  return node;
}

function s(parent, tag, attributes = {}, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

const set = (node, attributes) => {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
};

const paintOf = ({ fill }) => `fill:${fill}`;

const nameOn = (svg, x, y, text, { on }) => s(svg, "text", { x, y, class: "ax-name", "text-anchor": "middle", style: `fill:${on}` }, text);

/** A table of numbers. It scrolls when there are many budgets, and then the keyboard reaches it. */
function numberTable(label, heads, body) {
  const row = h("tr", {}, ...heads.map((text) => h("th", { scope: "col", text })));
  return h("div", { class: "ax-scroll", role: "region", "aria-label": label }, h("table", { class: "ax-table" }, h("thead", {}, row), body));
}

const reachable = (node) => (node.scrollHeight > node.clientHeight ? set(node, { tabindex: 0 }) : node.removeAttribute("tabindex"));

const chip = (colour) => h("i", { class: "ax-chip", style: `background:${colour}` });
const rowHead = ({ fill }, name) => h("th", { scope: "row" }, chip(fill), visible(name));

/** The width inside a node, without its padding. */
function roomIn(node) {
  const style = getComputedStyle(node);
  return Math.floor(node.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
}

/** How a question is called on the page. */
const nameOf = ({ ids }, row) => visible(String(ids?.[row] ?? row));
