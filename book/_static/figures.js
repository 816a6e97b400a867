// Draws the figures that adabook.figures.show put on the page, when they come near the screen, in the colours of
// the reader's theme. The figures are JSON beside their div; the default colours live in the figure's template, so that
// a change of theme is a change of template, and a colour that a figure sets itself stays.
(function () {
  "use strict";

  const LIBRARY = new URL("lib/plotly.min.js", document.currentScript.src || document.baseURI).href;
  const FEW = 4; // a choice of so many is a row of buttons, not a slider

  const PALETTES = {
    light: { text: "#2b3036", grid: "#dfe3e8", line: "#9aa3ad", panel: "#f3f5f7", hover: "#ffffff", edge: 0 },
    dark: { text: "#dfe3e8", grid: "#363d45", line: "#7c858f", panel: "#2a3037", hover: "#222832", edge: 0.8 },
  };

  function palette() {
    return PALETTES[document.documentElement.dataset.theme === "dark" ? "dark" : "light"];
  }

  // On a slide, text is read from the back row: it is as large as the slide's own, and so is all that goes with it.
  const slide = document.querySelector(".deck-slide");
  const grow = () => (slide ? parseFloat(getComputedStyle(slide).fontSize) / 16 : 1);

  function grown(part, by) {
    for (const [key, value] of Object.entries(part ?? {})) {
      if (/font$/i.test(key) && typeof value?.size === "number") value.size = Math.max(13, value.size) * by;
      else if (value && typeof value === "object" && !ArrayBuffer.isView(value)) grown(value, by);
    }
  }

  function themed(template, p = palette()) {
    const copy = JSON.parse(JSON.stringify(template || {}));
    const layout = (copy.layout = copy.layout || {});
    const set = (name, values) => (layout[name] = Object.assign(layout[name] || {}, values));
    set("font", slide ? { color: p.text, size: 16 * grow() } : { color: p.text });
    for (const axis of ["xaxis", "yaxis"]) {
      // A fixed range: dragging a figure would zoom it, and on a phone nobody could scroll past it.
      set(axis, { gridcolor: p.grid, zerolinecolor: p.line, linecolor: p.line, tickcolor: p.line, fixedrange: true });
      Object.assign((layout[axis].title ??= {}), { font: { size: layout.font.size } }); // as large as its numbers
    }
    set("hoverlabel", { bgcolor: p.hover, bordercolor: p.line, font: { family: layout.font.family, size: 13 * grow(), color: p.text } });
    // An edge keeps dark dots and bars apart from a dark page, in the legend too.
    copy.data ??= {};
    for (const kind of ["scatter", "bar"]) copy.data[kind] = [{ marker: { line: { color: p.text, width: p.edge } } }];
    return copy;
  }

  // --- drawing, one figure after the other ---------------------------------------------------------------------------

  let library = null;
  function loaded() {
    library ??= fetchScript(LIBRARY);
    return library;
  }

  const drawn = new WeakMap(); // div -> the promise of its drawing
  let queue = Promise.resolve();

  // Each figure is a task of its own, so that the page answers between two of them.
  function draw(div) {
    if (!drawn.has(div)) {
      queue = queue.then(loaded).then(() => new Promise((go) => setTimeout(go)));
      queue = queue.then(() => plot(div)).catch((error) => console.error(error));
      drawn.set(div, queue);
    }
    return drawn.get(div);
  }

  // A browser that prints does not wait: what is not drawn yet is drawn at once, and all are made as wide as the text on
  // paper: the style sheet sets them at seven eighths of their size, which leaves labels of about eight points.
  const PAPER = 760;
  function print(figures) {
    if (!window.Plotly) scriptNow(LIBRARY);
    if (!window.Plotly) return;
    for (const div of figures) {
      if (!div.layout) drawn.set(div, plot(div));
      Plotly.relayout(div, { width: PAPER });
    }
  }

  function read(div) {
    const figure = JSON.parse(div.parentElement.querySelector('script[type="application/json"]').textContent);
    const sliders = figure.layout.sliders || [];
    delete figure.layout.sliders; // ours answers to touch, mouse and keyboard alike
    if (slide) grown(figure, grow());
    figure.layout.template = themed(figure.layout.template);
    figure.layout.dragmode = false;
    if (slide) {
      const { xaxis, xaxis2 } = figure.layout;
      const stacked = xaxis2 && String(xaxis.domain) === String(xaxis2.domain);
      if (stacked && xaxis.title?.text === xaxis2.title?.text) delete xaxis.title; // there is no room to say it twice
      figure.layout.height = Math.min((figure.layout.height ?? 420) * grow(), 0.6 * innerHeight);
    }
    figure.config = { displayModeBar: false };
    fold(figure, div.clientWidth);
    div.dataset.narrow = div.clientWidth < NARROW;
    return { figure, sliders };
  }

  async function plot(div) {
    if (div.layout) return; // printed meanwhile
    const { figure, sliders } = read(div);
    // Plotly would take every touch for a drag. Kept from it, a swipe scrolls the page and a tap still shows a value.
    div.addEventListener("touchstart", (event) => event.stopPropagation(), { capture: true, passive: true });
    await Plotly.newPlot(div, figure);
    if (!sliders.length) await nameLines(div); // a slider would move the lines away from their names
    const made = sliders.map((slider) => (slider.steps.length <= FEW ? buttons(div, slider) : range(div, slider)));
    if (made.length > 1) made.push(controls("several")), made.at(-1).append(...made.slice(0, -1)); // they stay in sight together
    if (made.length) div.before(made.at(-1));
    div.after(saving(div));
  }

  /** A figure has another width. Where it became narrow or wide, what is written around it is broken anew; controls stay as set. */
  async function refit(div) {
    const shown = div.layout && div.clientWidth && !matchMedia("print").matches;
    if (!shown || Math.abs(div.clientWidth - div._fullLayout.width) < 1) return;
    if (!slide && div.dataset.narrow === String(div.clientWidth < NARROW)) return Plotly.Plots.resize(div);
    const { figure, sliders } = read(div);
    await Plotly.newPlot(div, figure);
    if (!sliders.length) await nameLines(div);
    for (const input of div.parentElement.querySelectorAll(".adalib-controls :is([type=range], :checked)")) {
      input.dispatchEvent(new Event(input.type === "range" ? "input" : "change"));
    }
  }

  // --- on a phone, what is written over and under a figure takes several lines ---------------------------------------

  const NARROW = 520;
  const LETTER = 8.4; // pixels
  const MARGINS = 100; // left of the axis, mostly

  function lines(text, width) {
    const found = [""];
    for (const word of text.split(" ")) {
      if (found.at(-1) && (found.at(-1).length + 1 + word.length) * LETTER > width) found.push(word);
      else found.push([found.pop(), word].filter(Boolean).join(" "));
    }
    return found;
  }

  /** Break what is wider than the figure: titles, those that a slider will set, headings of panels, names of axes. */
  function fold({ data, layout, frames = [] }, width) {
    if (width >= NARROW) return;
    const names = data.flatMap(({ y }) => (Array.isArray(y) ? y : [])).filter((value) => typeof value === "string");
    const beside = LETTER * Math.max(0, ...names.map((name) => name.length)); // what stands left of the axis takes its room
    const layouts = [layout, ...(frames || []).map((frame) => frame.layout || {})];
    const broken = (holder, key, room) => {
      const text = holder?.[key];
      if (typeof text !== "string") return 0;
      const parts = text.split("<br>").flatMap((line) => lines(line, room - MARGINS));
      holder[key] = parts.join("<br>");
      return parts.length;
    };
    const rows = Math.max(...layouts.map(({ title }) => broken(title, "text", width)));
    if (rows) {
      // Plotly makes room for one line of a title, and puts the others above the figure.
      layout.title = { ...layout.title, automargin: false, yref: "container", y: 1, yanchor: "top", pad: { t: 20 } };
      layout.margin = { ...layout.template.layout.margin, ...layout.margin };
      layout.margin.t = Math.max(layout.margin.t + 20 * (rows - 1), 24 + 20 * rows);
    }
    for (const note of layouts.flatMap(({ annotations }) => annotations || [])) if (!note.showarrow) broken(note, "text", width);
    for (const name of Object.keys(layout).filter((each) => /^xaxis\d*$/.test(each))) {
      const [from, to] = layout[name].domain || [0, 1];
      if (broken(layout[name].title, "text", width * (to - from) - beside / 2) > 1) layout[name].automargin = true;
    }
  }

  // --- names at the ends of lines -------------------------------------------------------------------------------------

  const APART = 17; // pixels from one name to the next
  const MOVED = 14; // so far may a name stand from the end of its line
  const AT_THE_EDGE = 0.1; // of a panel's width: a line ends at its right edge

  /**
   * Write the names of lines at their right ends instead of in a legend. The legend stays where a reader could not tell
   * which name belongs to which line, where something else than lines has a name, and where there is no room beside.
   */
  function nameLines(div) {
    const named = div._fullData.filter((trace) => trace.visible === true && trace.showlegend && trace.name);
    const isLine = (trace) => trace.type === "scatter" && trace.mode.includes("lines");
    if (div.clientWidth < NARROW || named.length < 2 || !named.every(isLine)) return;
    const ends = named.map((trace) => end(div, trace));
    if (!ends.every(Boolean)) return;
    for (const axis of new Set(ends.map((one) => one.axis))) {
      if (!spread(ends.filter((one) => one.axis === axis))) return;
    }
    const notes = ends.map(({ trace, axis, x, value, shift }) => ({
      text: `<span style="color:${trace.line.color}">■</span> ${trace.name}`,
      xref: `${trace.xaxis} domain`, x, xanchor: "left", xshift: 4,
      yref: axis._id, y: axis.type === "log" ? Math.log10(value) : value, yanchor: "middle", yshift: -shift,
      showarrow: false,
    }));
    const right = 24 + 7.4 * grow() * Math.max(...named.map(({ name }) => name.length));
    const ofPanels = Object.keys(div._fullLayout).filter((key) => /^legend\d+$/.test(key));
    return Plotly.relayout(div, {
      ...Object.fromEntries(ofPanels.map((key) => [`${key}.visible`, false])),
      annotations: [...(div.layout.annotations || []), ...notes],
      showlegend: false,
      "margin.r": Math.max(right, div._fullLayout.margin.r),
      ...(!div.layout.title?.text && { "margin.t": Math.min(40, div._fullLayout.margin.t) }),
    });
  }

  /** Where a line ends, if that is at the right edge of a panel that has nothing beside it. */
  function end(div, trace) {
    const layout = div._fullLayout;
    const across = layout[trace.xaxis.replace("x", "xaxis")];
    const axis = layout[trace.yaxis.replace("y", "yaxis")];
    if (across.domain[1] < 0.999) return null;
    let last = -1;
    trace.x.forEach((x, at) => {
      const seen = Number.isFinite(across.d2p(x)) && Number.isFinite(axis.d2p(trace.y[at])) && trace.y[at] !== null;
      if (seen && (last < 0 || across.d2p(x) >= across.d2p(trace.x[last]))) last = at;
    });
    if (last < 0 || across.d2p(trace.x[last]) < (1 - AT_THE_EDGE) * across._length) return null;
    return { trace, axis, x: 1, value: trace.y[last], pixel: axis.d2p(trace.y[last]), shift: 0 };
  }

  /** Move names apart that would cover each other, both ways alike; whether each still stands beside its line. */
  function spread(ends) {
    ends.sort((one, other) => one.pixel - other.pixel);
    const at = ends.map((one) => one.pixel);
    for (let round = 0; round < 50; round++) {
      for (let i = 1; i < at.length; i++) {
        const missing = APART * grow() - (at[i] - at[i - 1]);
        if (missing > 0.1) {
          at[i - 1] -= missing / 2;
          at[i] += missing / 2;
        }
      }
    }
    ends.forEach((one, i) => (one.shift = at[i] - one.pixel));
    return ends.every(({ shift }) => Math.abs(shift) <= MOVED * grow());
  }

  // --- to save -------------------------------------------------------------------------------------------------------

  /** Buttons that save the figure as it is now, for paper: dark on white, whatever the screen shows. They take no room. */
  function saving(div) {
    const save = (format) => {
      const { data, layout, clientWidth: width, clientHeight: height } = div;
      const template = themed(layout.template, PALETTES.light);
      const number = div.parentElement.querySelector("figcaption")?.textContent.match(/^Figure (\S+)\./);
      const filename = number ? `figure-${number[1]}` : "figure";
      const font = { ...layout.font, family: "Arial, Liberation Sans, sans-serif" }; // a file does not carry the book's fonts
      const paper = { ...layout, template, font, paper_bgcolor: "#ffffff" };
      return Plotly.downloadImage({ data, layout: paper }, { format, width, height, filename, scale: 2 });
    };
    const box = make("div", { className: "figure-save" });
    const inner = box.appendChild(make("div"));
    for (const format of ["svg", "png"]) {
      const name = format.toUpperCase();
      const button = make("button", { type: "button", textContent: name, ariaLabel: `Save this figure as ${name}` });
      button.addEventListener("click", () => save(format));
      inner.append(button);
    }
    return box;
  }

  // --- controls ------------------------------------------------------------------------------------------------------

  const nameOf = (slider) => ((slider.currentvalue || {}).prefix || "").replace(/[\s=:]+$/, "") || "choose";

  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const controls = (kind) => make("div", { className: `adalib-controls adalib-${kind}` });

  const apply = (div, { method, args }) => Plotly[method](div, ...args);

  function range(div, slider) {
    const box = controls("slider");
    const last = slider.steps.length - 1;
    const input = make("input", { type: "range", min: 0, max: last, step: 1, value: slider.active || 0, ariaLabel: nameOf(slider) });
    const said = make("output");
    const tell = () => {
      said.textContent = input.ariaValueText = ((slider.currentvalue || {}).prefix || "") + slider.steps[input.value].label;
    };
    input.addEventListener("input", () => {
      tell();
      apply(div, slider.steps[input.value]);
    });
    box.append(said, input);
    tell();
    return box;
  }

  function buttons(div, slider) {
    const box = controls("choice");
    const legend = make("span", { textContent: nameOf(slider), id: `${div.id}-choice` });
    box.role = "radiogroup";
    box.setAttribute("aria-labelledby", legend.id);
    box.append(legend);
    slider.steps.forEach((step, at) => {
      const label = make("label");
      const input = make("input", { type: "radio", name: legend.id, value: at, checked: at === (slider.active || 0) });
      input.addEventListener("change", () => apply(div, step));
      label.append(input, step.label);
      box.append(label);
    });
    return box;
  }

  // --- when ----------------------------------------------------------------------------------------------------------

  function start() {
    const figures = [...document.querySelectorAll(".adalib-figure .plotly-graph-div")];
    whenNear(figures, (come) => come.forEach(draw));
    if (figures.length) whenMoved(loaded);
    // A window is drawn wide, a phone is turned, a fold opens, a sidebar comes a moment later.
    let resized = 0;
    const sizes = new ResizeObserver(() => {
      clearTimeout(resized); // the page around the figures takes its new shape first
      resized = setTimeout(() => figures.forEach((div) => (queue = queue.then(() => refit(div)))), 200);
    });
    figures.forEach((div) => sizes.observe(div));
    window.addEventListener("adalib-figure", ({ detail: div }) => {
      figures.push(div); // a cell has run in the page (live.js)
      sizes.observe(div);
      draw(div);
    });
    window.addEventListener("beforeprint", () => print(figures));
    window.addEventListener("afterprint", () => {
      for (const div of figures.filter((each) => each.layout?.width)) Plotly.relayout(div, { width: null, autosize: true });
    });
    new MutationObserver(() => {
      for (const div of figures.filter((each) => each.layout)) {
        Plotly.relayout(div, { template: themed(div.layout.template) });
      }
    }).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  document.addEventListener("DOMContentLoaded", start);
  window.addEventListener("load", () => fetchAhead(LIBRARY, loaded));
})();
