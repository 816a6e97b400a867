// Stories: steps that move the tiles, told next to them. A setting may bring some, each with a title, a text, a price and
// the id of a question.

class Stories {
  constructor(settings, show) {
    this.steps = settings.flatMap((setting, at) => (setting.stories ?? []).map((story) => ({ ...story, at })));
    this.text = h("p", { class: "ax-say ax-story", role: "status" });
    this.buttons = this.steps.map((step, number) => {
      const button = h("button", { type: "button", text: `${number + 1}. ${step.title}` });
      button.addEventListener("click", () => {
        show(step);
        this.tell(step);
      });
      return button;
    });
    this.node = h("nav", { class: "ax-stories", "aria-label": "Stories" }, ...this.buttons);
    this.node.hidden = !this.steps.length;
    this.tell(null);
  }

  /** The text of a step, or none. */
  tell(step) {
    this.text.textContent = step?.text ?? "";
    this.text.hidden = !step;
    this.buttons.forEach((button, number) => set(button, { "aria-pressed": String(this.steps[number] === step) }));
  }
}
