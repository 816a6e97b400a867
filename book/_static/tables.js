// Tables that do not fit. On a wide screen one is set more tightly, and on a phone one of numbers. One that does not fit
// even so is stacked: the cells of a row stand below each other, each with the name of its column. On a phone, so is one
// that has a cell of many short lines. One that fits stays as it is.
// Single words (names of settings, of functions) never break in two.
(function () {
  "use strict";

  const TABLES = ".bd-article table:not(.states-grid, .adalib-explorer table)";
  const LONGEST = 30; // letters of a name that is kept whole
  const ROOMY = 600; // pixels of an article in which small letters are read with ease
  const SHORT = 20; // letters of a cell that is read at a glance: a number and its interval, say

  function cells(table) {
    return [...table.querySelectorAll("tbody > tr")].flatMap((row) => [...row.children].map((cell, at) => [cell, at]));
  }

  // The name of a column is the lowest heading above it; each cell carries it, for the style sheet to show.
  function label(table) {
    const heads = [...table.querySelectorAll("thead > tr")].map((row) => [...row.children]);
    const name = (at) => heads.map((row) => row[at]?.textContent.trim()).filter(Boolean).pop() || "";
    let above = "";
    for (const [cell, at] of cells(table)) {
      cell.dataset.label ??= name(at);
      if (at > 0) continue;
      // A name that is written once for several rows: stacked, each row shows it again.
      if (cell.textContent.trim()) above = cell.textContent.trim();
      else cell.dataset.above = above;
    }
  }

  function whole(article) {
    for (const word of article.querySelectorAll("td, th, :not(pre) > code")) {
      const text = word.textContent.trim();
      if (!word.children.length && text.length <= LONGEST && !/\s/.test(text)) word.classList.add("adalib-word");
    }
  }

  // Stacked cells are no table to a browser any more; roles tell a screen reader that they are one.
  function stack(table, is) {
    table.classList.toggle("adalib-stacked", is);
    const roles = [[table, "table"], ...[...table.rows].map((row) => [row, "row"]), ...cells(table).map(([cell]) => [cell, "cell"])];
    for (const [element, role] of roles) is ? element.setAttribute("role", role) : element.removeAttribute("role");
  }

  function wide(table) {
    const room = table.parentElement.getBoundingClientRect().right;
    return table.scrollWidth > table.clientWidth + 1 || table.getBoundingClientRect().right > room + 1;
  }

  const brief = (table) => cells(table).every(([cell]) => cell.textContent.trim().length <= SHORT);
  const slender = (table) => cells(table).some(([{ clientWidth: w, clientHeight: h }]) => h > 100 && h > 1.5 * w);

  function fit(tables, room) {
    const tighten = (table, is) => table.classList.toggle("adalib-tight", is);
    tables.forEach((table) => (stack(table, false), tighten(table, false)));
    // All are measured before any is changed: a change would make the browser lay out the page again for each.
    const found = tables.filter((table) => wide(table) || (room < ROOMY && slender(table)));
    const tight = found.filter((table) => room >= ROOMY || brief(table));
    tight.forEach((table) => tighten(table, true));
    const still = found.filter((table) => !tight.includes(table) || wide(table));
    still.forEach((table) => (tighten(table, false), stack(table, true)));
  }

  document.addEventListener("DOMContentLoaded", () => {
    const article = document.querySelector(".bd-article");
    const tables = [...document.querySelectorAll(TABLES)];
    if (!article) return;
    whole(article);
    tables.forEach(label);
    let width = 0;
    new ResizeObserver(() => {
      if (article.clientWidth === width) return;
      width = article.clientWidth;
      fit(tables, width);
    }).observe(article);
    // What is folded has no width until it opens.
    article.addEventListener("toggle", () => fit(tables, width), { capture: true });
    window.addEventListener("adalib-typeset", () => fit(tables, width));
  });
})();
