// Tables that do not fit. One is set more tightly, on a phone if it holds no sentences. If it does not fit even so, it
// becomes on a phone, if it holds sentences, a card per row, each cell beside the name of its column; elsewhere, or where
// a row cannot be read by itself, or numbers are to be compared, it scrolls sideways and keeps its first column in sight.
// One that fits stays as it is. A column of numbers is set flush right.
// Single words (names of settings, of functions) never break in two, and printed columns never wrap: they scroll.
(function () {
  "use strict";

  const TABLES = ".bd-article table:not(.states-grid, .adalib-explorer table)";
  const LONGEST = 30; // letters of a name that is kept whole
  const ROOMY = 600; // pixels of an article in which small letters are read with ease
  const SENTENCE = 40; // letters of a cell that is read as a sentence

  function cells(table) {
    return [...table.querySelectorAll("tbody > tr")].flatMap((row) => [...row.children]);
  }

  function whole(article) {
    for (const word of article.querySelectorAll("td, th, :not(pre) > code")) {
      const text = word.textContent.trim();
      if (!word.children.length && text.length <= LONGEST && !/\s/.test(text)) word.classList.add("adalib-word");
    }
  }

  const NUMBER = /^\(?[-+−±]?[$€]?[-−]?\d[\d.,\u202f\u2009]*\s?(%|points?|s|ms|GB|MB)?\)?(\s*[([].*)?$/;

  const MOSTLY = 0.8; // of a column of numbers is one

  function numbers(table) {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    const width = Math.max(0, ...rows.map((row) => row.cells.length));
    if (rows.some((row) => row.cells.length !== width)) return; // cells that span several columns
    for (let at = 0; at < width; at++) {
      const said = rows.map((row) => row.cells[at].textContent.trim()).filter((text) => text && text !== "–" && text !== "—");
      if (!said.length || said.filter((text) => NUMBER.test(text)).length < MOSTLY * said.length) continue;
      for (const row of [...(table.tHead?.rows ?? []), ...rows]) row.cells[at]?.classList.add("is-number");
    }
  }

  /** Output with several rows of columns, as a data frame prints it; sentences that a cell prints may wrap. */
  function columns(article) {
    for (const printed of article.querySelectorAll(".cell_output pre")) {
      const rows = printed.textContent.split("\n").filter((line) => /\S {2,}\S/.test(line));
      printed.classList.toggle("adalib-columns", rows.length > 2);
    }
  }

  function wide(table) {
    const room = table.parentElement.getBoundingClientRect().right;
    return table.scrollWidth > table.clientWidth + 1 || table.getBoundingClientRect().right > room + 1;
  }

  // A row's name may be long and is no sentence.
  const wordy = (table) => cells(table).some((cell) => cell.cellIndex > 0 && cell.textContent.trim().length > SENTENCE);
  const slender = (table) => cells(table).some(({ clientWidth: w, clientHeight: h }) => h > 70 && h > w);

  /** One row of heads, and as many cells in every row: a row can be read by itself. */
  function regular(table) {
    const heads = table.tHead?.rows.length === 1 ? table.tHead.rows[0].cells.length : 0;
    return heads > 1 && [...table.tBodies[0].rows].every((row) => row.cells.length === heads);
  }

  function name(table) {
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    for (const row of table.tBodies[0].rows) {
      [...row.cells].forEach((cell, at) => {
        cell.dataset.column = heads[at];
        cell.classList.toggle("adalib-blank", !cell.textContent.trim());
      });
    }
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
    const unfit = (table) => wide(table) || (room < ROOMY && slender(table));
    const found = tables.filter(unfit);
    const tight = found.filter((table) => room >= ROOMY || !wordy(table));
    tight.forEach((table) => tighten(table, true));
    const still = found.filter((table) => !tight.includes(table) || unfit(table));
    for (const table of still) {
      const cards = room < ROOMY && regular(table) && wordy(table);
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
    columns(article);
    tables.forEach(numbers);
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
