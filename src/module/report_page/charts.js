// Elements and charts, drawn as SVG.

function element(name, attributes, ...children) {
  const svg = ["svg", "path", "line", "text", "circle", "title"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function part(title, ...children) {
  const made = element("section", {class: "part"}, element("h2", {}, title), ...children);
  document.getElementById("parts").append(made);
  return made;
}

// A number in few digits.
function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e12) return value.toExponential(2);
  if (size >= 1e4) return Number(value.toPrecision(3)).toLocaleString("en");
  return String(Number(value.toPrecision(4)));
}

// Three to six round numbers that span [low, high].
function ticks(low, high) {
  const step0 = (high - low) / 4 || Math.abs(high) || 1;
  const power = 10 ** Math.floor(Math.log10(step0));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= step0 * 0.999);
  const all = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) all.push(i * step);
  return all;
}

// Curves over epochs: [{name, colour, points: [[x, y], ...]}, ...].
function chart(title, curves) {
  curves = curves.map(c => ({...c, points: c.points.filter(p => Number.isFinite(p[1]))}));
  curves = curves.filter(c => c.points.length > 0);
  if (curves.length === 0) return;
  const width = 430, height = 220, left = 52, right = 12, top = 10, bottom = 26;
  const xs = curves.flatMap(c => c.points.map(p => p[0])), ys = curves.flatMap(c => c.points.map(p => p[1]));
  const reduce = (f, numbers) => numbers.reduce((a, b) => f(a, b));
  const x0 = Math.min(0, reduce(Math.min, xs)), x1 = Math.max(x0 + 1, reduce(Math.max, xs));
  let y0 = reduce(Math.min, ys), y1 = reduce(Math.max, ys);
  const space = (y1 - y0) * 0.05 || Math.abs(y1) * 0.05 || 0.5;
  y0 -= space;
  y1 += space;
  const x = v => left + (v - x0) / (x1 - x0) * (width - left - right);
  const y = v => height - bottom - (v - y0) / (y1 - y0) * (height - top - bottom);
  const svg = element("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title});
  for (const t of ticks(y0, y1)) {
    svg.append(element("line", {class: "grid", x1: left, x2: width - right, y1: y(t), y2: y(t)}));
    svg.append(element("text", {x: left - 6, y: y(t) + 4, "text-anchor": "end"}, short(t)));
  }
  for (const t of ticks(x0, x1).filter(Number.isInteger))
    svg.append(element("text", {x: x(t), y: height - 8, "text-anchor": "middle"}, String(t)));
  svg.append(element("text", {x: left - 6, y: height - 8, "text-anchor": "end"}, "epochs"));
  for (const c of curves) {
    const path = c.points.map((p, i) => `${i ? "L" : "M"}${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join("");
    svg.append(element("path", {class: "curve", d: path, stroke: `var(--${c.colour})`}));
    if (c.points.length <= 60)
      for (const p of c.points)
        svg.append(element("circle", {cx: x(p[0]), cy: y(p[1]), r: 3, fill: `var(--${c.colour})`},
                           element("title", {}, `${c.name} after ${short(p[0])} epochs: ${short(p[1])}`)));
  }
  const legend = element("div", {class: "legend"});
  for (const c of curves) legend.append(element("i", {style: `background: var(--${c.colour})`}), c.name);
  part(title, svg, legend);
}

// What takes how long in a step: [{name, op, kernel, forward, backward} in ns, ...].
function layer_times(layers) {
  if (layers.length === 0) return;
  const all = layers.reduce((sum, l) => sum + l.forward + l.backward, 0);
  const rows = layers.filter(l => l.forward + l.backward > 0);
  rows.sort((a, b) => b.forward + b.backward - a.forward - a.backward);
  const most = rows[0].forward + rows[0].backward;
  const table = element("table", {class: "layers"});
  const head = element("tr");
  for (const [text, kind] of [["layer", ""], ["operator", ""], ["kernel", ""], ["µs", "number"], ["share", "number"], ["", ""]])
    head.append(element("th", {class: kind}, text));
  table.append(head);
  for (const l of rows.slice(0, 40)) {
    const time = l.forward + l.backward;
    const bars = element("div", {style: `width: ${(100 * time / most).toFixed(1)}%`},
      element("span", {style: `flex: ${l.forward}; background: var(--forward)`}),
      element("span", {style: `flex: ${l.backward}; background: var(--backward)`}));
    table.append(element("tr", {}, element("td", {}, l.name), element("td", {}, l.op), element("td", {}, l.kernel),
      element("td", {class: "number"}, (time / 1000).toFixed(1)),
      element("td", {class: "number"}, (100 * time / all).toFixed(1) + " %"), element("td", {class: "share"}, bars)));
  }
  const legend = element("div", {class: "legend"}, element("i", {style: "background: var(--forward)"}), "forward",
    element("i", {style: "background: var(--backward)"}), "backward or update");
  const rest = rows.length > 40 ? `, the ${rows.length - 40} shortest left out` : "";
  part(`Time per layer: ${(all / 1e6).toFixed(3)} ms a step${rest}`, table, legend).classList.add("wide");
}

// Which class was taken for which: row true, column predicted.
function confusion_matrix(counts) {
  if (!counts || counts.length === 0) return;
  if (counts.length > 30) {
    const wrong = [];
    counts.forEach((row, i) => row.forEach((n, j) => { if (i !== j && n > 0) wrong.push([n, i, j]); }));
    wrong.sort((a, b) => b[0] - a[0]);
    const list = element("table");
    for (const [n, i, j] of wrong.slice(0, 20))
      list.append(element("tr", {}, element("td", {class: "number"}, String(n)),
                          element("td", {}, `of class ${i} predicted as ${j}`)));
    part(`Confusion: the most frequent mistakes among ${counts.length} classes`, list);
    return;
  }
  const table = element("table", {class: "matrix"});
  table.append(element("tr", {}, element("th", {}, ""), ...counts.map((_, j) => element("th", {}, String(j)))));
  counts.forEach((row, i) => {
    const sum = row.reduce((a, b) => a + b, 0) || 1;
    table.append(element("tr", {}, element("th", {}, String(i)), ...row.map((n, j) => element("td",
      {style: `background: rgba(var(--${i === j ? "cell" : "wrong"}), ${(0.85 * n / sum).toFixed(3)})`,
       title: `${n} of class ${i} predicted as ${j}`}, n > 0 ? String(n) : ""))));
  });
  part("Confusion matrix of the validation data: rows are true classes, columns predictions", table)
    .classList.add("wide");
}
