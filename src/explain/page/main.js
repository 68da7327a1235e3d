// The frame: title, totals, tabs, search, light and dark.

const tabs = [["graph", "Graph"], ["memory", "Memory"], ["steps", "Steps"],
              ["kernels", "Kernels and layouts"]];

/// The part after # chooses a tab, and after a colon a node: #graph:fc1.
const showAddress = () => {
  const [name, node] = decodeURIComponent(location.hash.slice(1)).split(/:(.*)/s);
  showTab(name);
  const step = node === undefined ? undefined : plan.steps.find(each => each.name === node);
  if (!step) return;
  select({step: step.number});
  graphView.reveal(step.number);
};

const showTab = name => {
  if (!tabs.some(tab => tab[0] === name)) name = "graph";
  for (const [id] of tabs) {
    document.getElementById("view-" + id).classList.toggle("shown", id === name);
    document.getElementById("tab-" + id).setAttribute("aria-selected", id === name);
  }
  if (name === "graph") graphView.open();
};

const showTotals = () => {
  const t = plan.totals, round = t.slices > 1 ? "a slice" : "a run";
  const cards = [
    [t.steps, t.forward_steps === t.steps ? "steps" : "steps, " + t.forward_steps + " forward"],
    [flopsText(t.flops), t.uncounted_steps
        ? round + " (" + t.uncounted_steps + " steps not counted)" : round],
    [bytesText(t.bytes), "read and written"],
    [bytesText(t.arena_bytes), "arena"],
    [bytesText(t.max_live_bytes), "live at most"],
    [bytesText(t.argument_bytes), "arguments"],
    [t.reorders, t.reorders === 1 ? "change of layout" : "changes of layout"],
  ];
  if (isProfiled)
    cards.push([timeText(totalTime), "in the steps"],
               [percentText(1e9 * t.flops / totalTime / plan.peak.flops), "of peak arithmetic"]);
  document.getElementById("totals").append(...cards.map(([value, text]) =>
      element("div", {class: "total"}, element("b", {}, String(value)), element("span", {}, text))));
};

const search = text => {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const numbers = words.length === 0 ? null : new Set(plan.steps
      .filter(step => words.every(word =>
          (step.name + " " + step.op + " " + step.kernel).toLowerCase().includes(word)))
      .map(step => step.number));
  graphView.find(numbers);
  tableView.find(numbers);
  return numbers;
};

const setTheme = theme => { document.documentElement.dataset.theme = theme; };

const start = () => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", event => setTheme(event.matches ? "dark" : "light"));
  document.getElementById("theme").onclick = () =>
      setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

  document.title = plan.title + " – explained";
  document.getElementById("title").textContent = plan.title;
  const devices = plan.memory.map(device => device.device).join(", ");
  document.getElementById("subtitle").textContent = "How Symbind " + plan.version + " runs it on " +
      devices + (plan.totals.forward_steps < plan.totals.steps ? ", for training" : ", for inference") +
      (plan.totals.slices > 1 ? ", in " + plan.totals.slices + " slices of the batch" : "");
  showTotals();
  document.getElementById("tabs").append(...tabs.map(([id, text]) => element("button",
      {id: "tab-" + id, role: "tab", onclick: () => { location.hash = id; }}, text)));
  for (const view of [graphView, memoryView, tableView, detailsView]) view.start();

  const field = document.getElementById("search");
  field.addEventListener("input", () => search(field.value));
  field.addEventListener("keydown", event => {
    if (event.key !== "Enter") return;
    const numbers = search(field.value);
    if (!numbers || numbers.size === 0) return;
    const next = [...numbers].find(n => state.selected && n > state.selected.step) ?? [...numbers][0];
    select({step: next});
    graphView.reveal(next);
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape") {
      field.value = "";
      search("");
      select(null);
    }
  });
  addEventListener("hashchange", showAddress);
  showAddress();
  document.body.dataset.ready = "true";
};

addEventListener("DOMContentLoaded", start);
