// Games on a page of the book: no kernel, and their data in a script beside them.

const HAS_ADDRESS = true;

// Where Python left places of this name, render them; live.js does so for cells that run later.
function everywhere(name, render) {
  const play = (el) => {
    const data = JSON.parse(el.querySelector("script")?.textContent ?? "null");
    render({ model: { get: () => data }, el });
  };
  (window.adalibGames ??= {})[name] = play;
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(`.adalib-${name}`).forEach(play));
}

// What a reader sets stands in the address, #name=value, beside what others keep there: `use` is called with what is found
// there, now and later, and what comes back writes it. A page that was opened with it shows the place.
function kept(el, name, use) {
  el.dataset.kept = name; // remember.js leaves it alone
  const view = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  const read = () => {
    if (view().has(name)) use(view().get(name));
  };
  read();
  if (view().has(name)) window.addEventListener("load", () => el.scrollIntoView({ block: "center" }));
  window.addEventListener("hashchange", read);
  let writing = 0;
  return (value) => {
    clearTimeout(writing);
    writing = setTimeout(() => {
      const now = view();
      now.set(name, value);
      try {
        history.replaceState(history.state, "", `#${now}`);
      } catch {
        // a page in a frame may not touch its address
      }
    }, 200);
  };
}
