// Tables that do not fit. On a wide screen one is set more tightly, and on a phone one of numbers. One that does not fit
// even so scrolls sideways and keeps its first column in sight. On a phone a table of sentences becomes a card per row
// instead, each cell under the name of its column. One that fits stays as it is.
// Single words (names of settings, of functions) never break in two.
(function () {
  "use strict";

  const TABLES = ".bd-article table:not(.states-grid, .adalib-explorer table)";
  const LONGEST = 30; // letters of a name that is kept whole
  const ROOMY = 600; // pixels of an article in which small letters are read with ease
  const SENTENCE = 40; // letters of a cell that is read as a sentence
  const SHORT = 20; // letters of a cell that is read at a glance: a number and its interval, say

  function cells(table) {
    return [...table.querySelectorAll("tbody > tr")].flatMap((row) => [...row.children]);
  }

  function whole(article) {
    for (const word of article.querySelectorAll("td, th, :not(pre) > code")) {
      const text = word.textContent.trim();
      if (!word.children.length && text.length <= LONGEST && !/\s/.test(text)) word.classList.add("adalib-word");
    }
  }

  function wide(table) {
    const room = table.parentElement.getBoundingClientRect().right;
    return table.scrollWidth > table.clientWidth + 1 || table.getBoundingClientRect().right > room + 1;
  }

  const brief = (table) => cells(table).every((cell) => cell.textContent.trim().length <= SHORT);
  const wordy = (table) => cells(table).some((cell) => cell.textContent.trim().length > SENTENCE);
  const slender = (table) => cells(table).some(({ clientWidth: w, clientHeight: h }) => h > 100 && h > 1.5 * w);

  /** One row of heads, and as many cells in every row: a row can be read by itself. */
  function regular(table) {
    const heads = table.tHead?.rows.length === 1 ? table.tHead.rows[0].cells.length : 0;
    return heads > 1 && [...table.tBodies[0].rows].every((row) => row.cells.length === heads);
  }

  function name(table) {
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, at) => (cell.dataset.column = heads[at]));
  }

  function fit(tables, room) {
    const tighten = (table, is) => table.classList.toggle("adalib-tight", is);
    const slide = (table, is) => table.classList.toggle("adalib-sideways", is);
    for (const table of tables) {
      table.classList.remove("adalib-cards");
      slide(table, false);
      tighten(table, false);
      table.classList.add("adalib-measured"); // from here on the style sheet leaves the choice to this file
    }
    // All are measured before any is changed: a change would make the browser lay out the page again for each.
    const found = tables.filter((table) => wide(table) || (room < ROOMY && slender(table)));
    const tight = found.filter((table) => room >= ROOMY || brief(table));
    tight.forEach((table) => tighten(table, true));
    const still = found.filter((table) => !tight.includes(table) || wide(table));
    for (const table of still) {
      const cards = room < ROOMY && wordy(table) && regular(table);
      tighten(table, false);
      if (cards) name(table);
      table.classList.toggle("adalib-cards", cards);
      slide(table, !cards);
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    const article = document.querySelector(".bd-article");
    const tables = [...document.querySelectorAll(TABLES)];
    if (!article) return;
    whole(article);
    let width = 0;
    new ResizeObserver(() => {
      if (article.clientWidth === width) return;
      width = article.clientWidth;
      fit(tables, width);
      window.dispatchEvent(new Event("adalib-fitted"));
    }).observe(article);
    // What is folded has no width until it opens.
    article.addEventListener("toggle", () => fit(tables, width), { capture: true });
    document.fonts.ready.then(() => fit(tables, width)); // formulas are wider or narrower in their own font
  });
})();
