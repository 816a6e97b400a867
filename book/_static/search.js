// Search as the reader types, in the dialog of every page and on the search page. What can be found (book/_ext/search_entries.py)
// is loaded when a search field gets the focus.
(function () {
  "use strict";

  const ROOT = document.documentElement.dataset.content_root;
  const ENTRIES = new URL("search-entries.js", document.currentScript.src).href;
  const PAUSE = 120; // milliseconds after the last key
  const MOST = 30; // results
  const AROUND = 90; // characters shown before and after a hit

  // Other words for a thing, as readers type them.
  const SAME = { license: "licence", karush: "kkt", llm: "language model", setup: "install" };
  const SMALL = /^(how|what|when|why|who|which|to|the|of|a|an|and|is|are|do|does|i|in|it|for|on)$/;
  // What a place counts: a word in a title more than any number of times in a text, and its exact form more than its start.
  const IN_TITLE = 20;
  const EXACT = 8;
  const PHRASE = 15;
  const OFTEN = 9;
  const IN_INDEX = 45; // a word of what the book's index gives to a chapter: before any title
  const IN_CHAPTER = 6; // before the pages for teachers and the reference
  const LAST = /\/references$/; // a list of titles, which holds every word of the field
  const TITLE_OF = { page: 12, statement: 6, section: 4, word: 3, name: 0 };
  const KIND = { word: "Glossary", name: "Package" };

  const plain = (text) => text.toLowerCase().replaceAll("’", "'").normalize("NFKD").replace(/\p{M}/gu, "");
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("'", "['’]");

  // The part that a word shares with its other forms: "stopping", "stopped" and "stops" begin with "stop".
  function stem(word) {
    const cut = word.replace(/(ings?|ed|es|s|e)$/, "").replace(/([^aeiou])\1$/, "$1");
    return cut.length >= 4 ? cut : word;
  }

  // The words to look for, as typed, or as they should have been.
  function wordsOf(query) {
    const typed = plain(query).split(/[^\p{L}\p{N}'.-]+/u).filter(Boolean);
    const translated = typed.flatMap((word) => (SAME[word] ?? word).split(" "));
    const words = translated.filter((word) => !SMALL.test(word));
    return (words.length ? words : translated).map(mended);
  }

  function asked(query) {
    return wordsOf(query).map((word) => ({
      exact: new RegExp(`(?<![\\p{L}\\p{N}])${escaped(word)}(?![\\p{L}\\p{N}-])`, "u"),
      start: new RegExp(`(?<![\\p{L}\\p{N}])${escaped(stem(word))}`, "gu"),
    }));
  }

  // The nearest word of the book to a word that is not in it: one letter off if it is short, two if it is long.
  function mended(word) {
    const start = stem(word);
    if (word.length < 4 || [...vocabulary.keys()].some((known) => known.includes(start))) return word;
    let best = { word, off: word.length < 7 ? 1 : 2, times: 0 };
    for (const [known, times] of vocabulary) {
      if (Math.abs(known.length - word.length) > best.off) continue;
      const off = distance(word, known);
      if (off < best.off || (off === best.off && times > best.times)) best = { word: known, off, times };
    }
    return best.word;
  }

  // How many letters must be put in, left out or changed to get from one word to the other (Levenshtein).
  function distance(one, other) {
    let row = Array.from({ length: other.length + 1 }, (_, at) => at);
    for (let i = 1; i <= one.length; i++) {
      const next = [i];
      for (let j = 1; j <= other.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] !== other[j - 1]));
      row = next;
    }
    return row[other.length];
  }

  function score(entry, words, phrase) {
    let found = 0;
    let sum = entry.page.startsWith("notebooks/") ? IN_CHAPTER : 0;
    const named = entry.index.filter((phrase) => phrase.split(" ").every((word) => words.some(({ start }) => word.search(start) >= 0)));
    for (const { exact, start } of words) {
      const inTitle = entry.plainTitle.search(start) >= 0;
      const times = entry.plainText.match(start)?.length ?? 0;
      const inIndex = named.some((phrase) => phrase.search(start) >= 0);
      if (inTitle || times || inIndex) found += 1;
      if (inIndex) sum += IN_INDEX;
      if (inTitle) sum += IN_TITLE + TITLE_OF[entry.kind] + EXACT * exact.test(entry.plainTitle);
      sum += Math.min(OFTEN, times) + exact.test(entry.plainText);
    }
    if (words.length > 1) sum += PHRASE * entry.plainTitle.includes(phrase) + (PHRASE / 2) * entry.plainText.includes(phrase);
    return { entry, found, sum };
  }

  // The entries that have all words, best first; where none has all, those that have most.
  function find(query) {
    const words = asked(query);
    if (!words.length) return [];
    const phrase = plain(query).trim();
    const scored = entries.map((entry) => score(entry, words, phrase)).filter(({ found }) => found);
    const last = scored.filter(({ entry }) => LAST.test(entry.page));
    const others = scored.filter((one) => !last.includes(one));
    const most = Math.max(...others.map(({ found }) => found));
    const best = others.filter(({ found }) => found === most).sort((a, b) => b.sum - a.sum);
    return [...best, ...last].map(({ entry }) => entry);
  }

  // --- what is shown -----------------------------------------------------------------------------------------------------

  function element(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // A text with the words that were asked for marked.
  function marked(text, words) {
    const hits = new RegExp(words.map(({ start }) => `(?:${start.source})[\\p{L}\\p{N}]*`).join("|"), "giu");
    const parts = [];
    let at = 0;
    for (const hit of text.matchAll(hits)) {
      parts.push(text.slice(at, hit.index), element("mark", {}, hit[0]));
      at = hit.index + hit[0].length;
    }
    return [...parts, text.slice(at)];
  }

  function excerpt({ text, plainText }, words) {
    const at = Math.max(0, ...words.map(({ start }) => plainText.search(start)));
    const from = at > AROUND ? text.indexOf(" ", at - AROUND) + 1 : 0;
    const to = text.lastIndexOf(" ", at + AROUND);
    const end = at + AROUND >= text.length ? text.length : to;
    return `${from ? "… " : ""}${text.slice(from, end)}${end < text.length ? " …" : ""}`;
  }

  function shown(entry, words) {
    const link = element("a", { href: `${ROOT}${entry.page}.html${entry.anchor && `#${entry.anchor}`}` }, ...marked(entry.title, words));
    const item = element("li", {}, link);
    const where = KIND[entry.kind] ?? (entry.title === entry.within ? "" : entry.within);
    if (where) item.append(" ", element("span", { className: "found-in" }, where));
    if (entry.text) item.append(element("p", { className: "context" }, ...marked(excerpt(entry, words), words)));
    return item;
  }

  // --- the fields --------------------------------------------------------------------------------------------------------

  let entries = null; // until they are loaded
  const vocabulary = new Map(); // the book's words, and how often they occur
  const waiting = [];

  window.adalibSearch = (found) => {
    entries = found.map((entry) => ({ ...entry, plainTitle: plain(entry.title), plainText: plain(entry.text) }));
    for (const { plainTitle, plainText, index } of entries)
      for (const [word] of `${plainTitle} ${plainText} ${index}`.matchAll(/\p{L}{4,}/gu)) vocabulary.set(word, (vocabulary.get(word) ?? 0) + 1);
    for (const search of waiting) search();
  };

  function load() {
    if (document.querySelector(`script[src="${ENTRIES}"]`)) return;
    document.head.append(element("script", { src: ENTRIES }));
  }

  function attach(form, results, onSearch) {
    const field = form.querySelector("input");
    const status = element("p", { className: "found-count" });
    status.setAttribute("role", "status");
    const list = element("ul", { className: "found" });
    results.replaceChildren(status, list);
    const links = () => [...list.querySelectorAll("a")];

    function search() {
      const query = field.value.trim();
      results.hidden = !query;
      if (!query) return list.replaceChildren();
      if (!entries) return (status.textContent = "Loading …");
      const found = find(query);
      const count = found.length === 1 ? "1 result" : `${found.length} results`;
      const words = wordsOf(query).join(" ");
      const other = words.split(" ").every((word) => plain(query).includes(stem(word))) ? "" : ` for “${words}”`;
      status.textContent = found.length ? `${count}${other}${found.length > MOST ? `, the first ${MOST}` : ""}` : `Nothing found for “${query}”.`;
      list.replaceChildren(...found.slice(0, MOST).map((entry) => shown(entry, asked(query))));
      onSearch(query);
    }

    let timer = 0;
    waiting.push(search);
    field.addEventListener("focus", load);
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(search, PAUSE);
    });
    // The arrow keys walk from the field down the results and back.
    for (const place of [form, list]) {
      place.addEventListener("keydown", (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step || !links().length) return;
        event.preventDefault();
        const places = [field, ...links()];
        places[Math.max(0, Math.min(places.length - 1, places.indexOf(document.activeElement) + step))].focus();
      });
    }
    return { field, search };
  }

  const dialog = document.querySelector("#pst-search-dialog");
  if (dialog) {
    const results = dialog.appendChild(element("div", { className: "adalib-found", hidden: true }));
    attach(dialog.querySelector("form"), results, () => {});
    // A link to a place on this page leaves the dialog open otherwise.
    results.addEventListener("click", (event) => event.target.closest("a") && dialog.close());
  }

  const onPage = document.querySelector("#search-results");
  if (onPage) {
    const { field, search } = attach(document.querySelector(".bd-search-container form"), onPage, (query) => {
      try {
        history.replaceState(null, "", `?q=${encodeURIComponent(query)}`);
      } catch {
        // a page from disk keeps its address
      }
    });
    field.value = new URLSearchParams(location.search).get("q") ?? "";
    search();
    load();
  }
})();
