// Puts the page together from its data.

const report = JSON.parse(document.getElementById("data").textContent);
const own = new Set(["time", "phase", "epoch", "nbatch", "learning_rate", "samples_per_second", "seconds"]);
const number = value => typeof value === "number" ? value : Number(String(value).replace("inf", "Infinity"));
const lines = phase => report.log.filter(line => line.phase === phase);
const train = lines("train"), validation = lines("validation"), interval = lines("interval");
const batches = train.reduce((most, line) => Math.max(most, line.nbatch), 1);
const after = line => line.phase === "interval" ? line.epoch + line.nbatch / batches : line.epoch + 1;
const curve = (events, name) => events.filter(e => name in e).map(e => [after(e), number(e[name])]);
const by_time = [...train, ...interval].sort((a, b) => after(a) - after(b));

document.title = `${report.run} · report`;
document.getElementById("title").textContent = report.run;
document.getElementById("subtitle").textContent =
  `${report.state} · ${train.length} epochs · written ${report.written}`;
if (report.error)
  document.querySelector("header").append(element("p", {class: "error"}, `The training ended with: ${report.error}`));

function total(value, text) {
  document.getElementById("totals").append(element("div", {class: "total"}, element("b", {}, value), element("span", {}, text)));
}
for (const [events, what] of [[train, "train"], [validation, "validation"]])
  if (events.length > 0)
    for (const [name, value] of Object.entries(events[events.length - 1]))
      if (!own.has(name)) total(short(number(value)), `${name}, ${what}`);
if (train.length > 0) {
  total(short(train[train.length - 1].samples_per_second), "samples per second");
  total(short(train.reduce((sum, e) => sum + e.seconds, 0)) + " s", "training time");
}

const names = new Set([...train, ...validation, ...interval].flatMap(e => Object.keys(e)).filter(name => !own.has(name)));
for (const name of names)
  chart(name, [{name: "train", colour: "train", points: curve(by_time, name)},
               {name: "validation", colour: "validation", points: curve(validation, name)}]);
chart("learning rate", [{name: "learning rate", colour: "rate", points: curve(by_time, "learning_rate")}]);
chart("samples per second", [{name: "samples per second", colour: "rate", points: curve(train, "samples_per_second")}]);
confusion_matrix(report.confusion);
layer_times(report.layers);

const machine = report.machine;
const facts = element("table", {class: "facts"});
for (const [name, value] of [["command", report.command], ["in folder", report.folder], ["started", report.started],
  ["Symbind", report.version], ["seed", report.seed],
  ["machine", `${machine.cpu}, ${machine.cores} cores, ${machine.instructions}, ${machine.threads} threads`],
  ["libraries", machine.libraries.join(", ")]])
  facts.append(element("tr", {}, element("th", {}, name), element("td", {}, element("pre", {}, String(value)))));
part("How to reproduce it", facts).classList.add("wide");
part("config.toml", element("pre", {}, report.config)).classList.add("wide");
