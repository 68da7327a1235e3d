// The data of the page and how they are formatted: amounts, shapes, kinds of operators.

const plan = JSON.parse(document.getElementById("data").textContent);
const isProfiled = plan.steps.some(step => step.time);

const averageTime = step => step.time ? step.time.total_ns / step.time.runs : 0;
const totalTime = plan.steps.reduce((sum, step) => sum + averageTime(step), 0);

const amount = (value, unit, base) => {
  const prefixes = base === 1024 ? ["", "Ki", "Mi", "Gi", "Ti"] : ["", "k", "M", "G", "T", "P"];
  let power = 0;
  while (value >= base && power < prefixes.length - 1) {
    value /= base;
    ++power;
  }
  const digits = power === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toFixed(digits) + " " + prefixes[power] + unit;
};
const bytesText = value => amount(value, "B", 1024);
const flopsText = value => value === null ? "not counted" : amount(value, "FLOP", 1000);
const rateText = (value, unit) => amount(value, unit + "/s", 1000);
const timeText = ns => ns >= 1e9 ? (ns / 1e9).toFixed(2) + " s"
    : ns >= 1e6 ? (ns / 1e6).toFixed(2) + " ms"
    : ns >= 1e3 ? (ns / 1e3).toFixed(1) + " µs" : ns.toFixed(0) + " ns";
const percentText = share => (100 * share).toFixed(share < 0.0995 ? 1 : 0) + " %";
const shapeText = tensor =>
    tensor.opaque ? bytesText(tensor.bytes) + " opaque" : "(" + tensor.shape.join(", ") + ")";
const layoutText = tensor => tensor.layout === "plain" || !tensor.layout ? "" : tensor.layout;

/// What a step is for: decides its colour. The first row that matches counts.
const families = [
  ["reorder", "change of layout or type", /^(reorder|convert)$/],
  ["custom", "custom", /Custom$/],
  ["recurrent", "recurrent", /^(_backward_)?RNN$/],
  ["matrix", "matrix product, convolution",
    /Convolution|FullyConnected|Deconvolution|(^|_)(batch_)?dot$|gemm|syrk|tr[ms]m/],
  ["norm", "normalisation", /Norm|LRN|Normalization/],
  ["loss", "loss", /Output$|Loss$|loss$|cross_entropy|_reg_out$/],
  ["pooling", "pooling", /Pooling/],
  ["activation", "activation",
    /Activation|LeakyReLU|relu$|sigmoid$|tanh$|softmax|softsign|softmin|Dropout/],
  ["movement", "moves data",
    /reshape|Reshape|Flatten|flatten|_copy$|Copy$|slice|Slice|split|[Cc]oncat|stack|transpose|SwapAxis|expand_dims|squeeze|Cast|cast|take|Embedding|one_hot|pick|tile|repeat|reverse|Pad|Crop|BlockGrad|broadcast_(to|axis|like)|zeros|ones|_full|Sequence/],
  ["arithmetic", "arithmetic", /./],
];
const familyOf = op => families.find(row => row[2].test(op))[0];

plan.steps.forEach((step, number) => {
  step.number = number;
  step.family = familyOf(step.op);
  const read = t => !["unused", "scratch"].includes(plan.tensors[t].home);
  step.result = plan.tensors[step.out.find(read) ?? step.out[0]];
});

/// Which step made a tensor.
const producerOf = new Map();
const readersOf = new Map();
plan.steps.forEach(step => {
  step.out.forEach(t => producerOf.set(t, step.number));
  step.in.forEach(t => {
    if (!readersOf.has(t)) readersOf.set(t, []);
    readersOf.get(t).push(step.number);
  });
});

/// Blocks: steps whose names have the same prefix (stage1_unit2_conv1, …_bn1, …). Unnamed
/// arithmetic (_plus0, activation3) belongs to the block of its last input, a step of the backward
/// phase to that of the step it differentiates.
(() => {
  const forward = plan.steps.filter(step => step.phase === "forward");
  const isUnnamed = step => step.name.startsWith("_") ||
      step.name.replace(/\d+$/, "") === step.op.toLowerCase();
  const members = new Map();
  for (const step of forward) {
    if (isUnnamed(step)) continue;
    const parts = step.name.split("_");
    for (let n = parts.length - 1; n >= 1; --n) {
      const prefix = parts.slice(0, n).join("_");
      if (!prefix || /^\d+$/.test(parts.slice(n).join(""))) continue;  // a list, not a block
      members.set(prefix, (members.get(prefix) || 0) + 1);
    }
  }
  const fits = prefix => members.get(prefix) >= 3 && members.get(prefix) <= 0.34 * forward.length &&
                         members.get(prefix) <= 40;
  for (const step of forward) {
    const parts = isUnnamed(step) ? [] : step.name.split("_");
    for (let n = parts.length - 1; n >= 1 && step.block === undefined; --n) {
      const prefix = parts.slice(0, n).join("_");
      if (fits(prefix)) step.block = prefix;
    }
    if (step.block !== undefined || !isUnnamed(step)) continue;
    const makers = step.in.map(t => producerOf.get(t)).filter(n => n !== undefined);
    const joins = new Set(makers.map(n => plan.steps[n].block)).size > 1;
    if (makers.length > 0 && !(joins && step.family === "movement"))
      step.block = plan.steps[Math.max(...makers)].block;
  }
  for (const step of plan.steps)
    if (step.of !== undefined) step.block = plan.steps[step.of].block;
})();

/// Elements, with texts and not markup: names cannot inject anything.
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
};
const drawn = (tag, attributes = {}, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
};

/// The views that show the selected step; state.select notifies all of them.
const state = {selected: null, listeners: []};
const select = what => {
  state.selected = what;
  state.listeners.forEach(listener => listener(what));
};

const tip = document.getElementById("tip");
const showTip = (event, text) => {
  tip.textContent = text;
  tip.style.display = "block";
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.min(event.clientX + 14, innerWidth - box.width - 8) + "px";
  tip.style.top = Math.min(event.clientY + 14, innerHeight - box.height - 8) + "px";
};
const hideTip = () => { tip.style.display = "none"; };
