// Draws the figures that adalib.figures.show put on the page, in the colours of the reader's theme.
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
    return Plotly.newPlot(div, figure);
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
