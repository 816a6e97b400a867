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

const paintOf = (budget) => `fill:var(--ax-b${budget})`;

const nameOn = (svg, x, y, text, { on }) => s(svg, "text", { x, y, class: "ax-name", "text-anchor": "middle", style: `fill:${on}` }, text);

function numberTable(heads, body) {
  const row = h("tr", {}, ...heads.map((text) => h("th", { scope: "col", text })));
  return h("div", { class: "ax-scroll" }, h("table", { class: "ax-table" }, h("thead", {}, row), body));
}

const rowHead = (budget, name) => h("th", { scope: "row" }, h("i", { class: "ax-chip", style: `background:var(--ax-b${budget})` }), name);
