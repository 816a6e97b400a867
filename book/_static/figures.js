// Draws the figures that adalib.teach.figures.show put on the page, in the colours of the reader's theme.
// The figures are JSON beside their div; the default colours live in the figure's template, so that a change of
// theme is a change of template, and a colour that a figure sets itself stays.
(function () {
  "use strict";

  const PALETTES = {
    light: { text: "#2b3036", grid: "#dfe3e8", line: "#9aa3ad", panel: "#f3f5f7", hover: "#ffffff" },
    dark: { text: "#dfe3e8", grid: "#363d45", line: "#7c858f", panel: "#2a3037", hover: "#222832" },
  };

  function palette() {
    return PALETTES[document.documentElement.dataset.theme === "dark" ? "dark" : "light"];
  }

  function themed(template) {
    const p = palette();
    const copy = JSON.parse(JSON.stringify(template || {}));
    const layout = (copy.layout = copy.layout || {});
    const set = (name, values) => (layout[name] = Object.assign(layout[name] || {}, values));
    const control = { bgcolor: p.panel, bordercolor: p.line, font: { color: p.text } };
    set("font", { color: p.text });
    for (const axis of ["xaxis", "yaxis"]) {
      set(axis, { gridcolor: p.grid, zerolinecolor: p.line, linecolor: p.line, tickcolor: p.line });
    }
    const wall = { gridcolor: p.grid, zerolinecolor: p.line, backgroundcolor: "rgba(0, 0, 0, 0)" };
    set("scene", { xaxis: wall, yaxis: wall, zaxis: wall });
    set("hoverlabel", { bgcolor: p.hover, bordercolor: p.line, font: { color: p.text, size: 13 } });
    set("sliderdefaults", Object.assign({ activebgcolor: p.line, tickcolor: p.line }, control));
    set("updatemenudefaults", control);
    set("modebar", { bgcolor: "rgba(0, 0, 0, 0)", color: p.line, activecolor: p.text });
    return copy;
  }

  function draw(div) {
    const source = div.parentElement.querySelector('script[type="application/json"]');
    const figure = JSON.parse(source.textContent);
    figure.layout.template = themed(figure.layout.template);
    figure.config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
    return Plotly.newPlot(div, figure).then(addKeys);
  }

  // Plotly's sliders answer to the mouse and to touch. A range input beside them, not seen, answers to the keyboard and
  // tells a screen reader where the slider stands.
  function addKeys(div) {
    const slider = (div.layout.sliders || [])[0];
    if (!slider) return;
    const range = document.createElement("input");
    const prefix = (slider.currentvalue || {}).prefix || "";
    const last = slider.steps.length - 1;
    Object.assign(range, { type: "range", className: "adalib-range", min: 0, max: last, value: slider.active || 0 });
    const tell = () => range.setAttribute("aria-valuetext", prefix + slider.steps[range.value].label);
    range.setAttribute("aria-label", prefix.replace(/[\s=:]+$/, "") || "slider");
    range.addEventListener("input", () => {
      const step = slider.steps[range.value];
      Plotly[step.method](div, ...step.args);
      tell();
    });
    div.on("plotly_sliderchange", (event) => {
      range.value = slider.steps.findIndex((step) => step.label === event.step.label);
      tell();
    });
    div.parentElement.append(range);
    tell();
  }

  function start() {
    const figures = document.querySelectorAll(".adalib-figure .plotly-graph-div");
    figures.forEach(draw);
    new MutationObserver(() => {
      figures.forEach((div) => Plotly.relayout(div, { template: themed(div.layout.template) }));
    }).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
