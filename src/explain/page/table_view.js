// The steps as a table that sorts and filters, and the kernels: which were chosen, which refused
// and why.

const tableView = (() => {
  const columns = [
    {title: "#", number: true, value: step => step.number, text: step => step.number},
    {title: "Node", name: true, value: step => step.name, text: step => step.name},
    {title: "Operator", value: step => step.op, text: step => step.op},
    {title: "Kernel", value: step => step.kernel, text: step => step.kernel || "–"},
    {title: "Result", value: step => step.result ? step.result.bytes : 0,
     text: step => step.result ? shapeText(step.result) +
         (step.result.dtype === "float32" ? "" : " " + step.result.dtype) : "–"},
    {title: "Layout", value: step => step.result ? layoutText(step.result) : "",
     text: step => step.result ? layoutText(step.result) || "plain" : ""},
    {title: "FLOPs", number: true, value: step => step.flops === null ? -1 : step.flops,
     text: step => step.flops === null ? "?" : amount(step.flops, "", 1000)},
    {title: "Bytes", number: true, value: step => step.bytes, text: step => bytesText(step.bytes)},
  ];
  if (isProfiled) {
    const longest = Math.max(...plan.steps.map(averageTime));
    columns.push(
      {title: "Time", number: true, value: averageTime, text: step => timeText(averageTime(step))},
      {title: "Share", number: true, value: averageTime, text: step => percentText(averageTime(step) / totalTime),
       bar: step => averageTime(step) / longest},
      {title: "GFLOP/s", number: true, value: step => (step.flops || 0) / averageTime(step),
       text: step => step.flops ? (step.flops / averageTime(step)).toFixed(1) : "–"},
      {title: "of peak", number: true, value: step => (step.flops || 0) / averageTime(step),
       text: step => step.flops ? percentText(1e9 * step.flops / averageTime(step) / plan.peak.flops) : "–"},
      {title: "of memory", number: true, value: step => step.bytes / averageTime(step),
       text: step => percentText(1e9 * step.bytes / averageTime(step) / plan.peak.bytes)});
  }
  let order = {column: 0, down: false}, body = null, heads = [], rows = new Map();

  const makeRow = step => {
    const row = element("tr", {class: step.phase, onclick: () => select({step: step.number})});
    for (const column of columns) {
      const cell = element("td", {class: column.number ? "number" : column.name ? "name" : undefined});
      if (column.bar)
        cell.append(element("span", {class: "share",
                                     style: "width:" + (34 * column.bar(step)).toFixed(1) + "px"}));
      cell.append(String(column.text(step)));
      row.append(cell);
    }
    return row;
  };

  const sort = () => {
    const value = columns[order.column].value, sign = order.down ? -1 : 1;
    const sorted = [...plan.steps].sort((a, b) => {
      const x = value(a), y = value(b);
      return sign * (typeof x === "string" ? x.localeCompare(y) : x - y) || a.number - b.number;
    });
    body.append(...sorted.map(step => rows.get(step.number)));
    heads.forEach((head, i) => {
      if (i === order.column) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  };

  const stepsTable = () => {
    heads = columns.map((column, i) => element("th", {
      class: column.number ? "number" : undefined, scope: "col",
      onclick: () => {
        order = {column: i, down: order.column === i ? !order.down : !!column.number && i > 0};
        sort();
      }}, column.title));
    body = element("tbody");
    plan.steps.forEach(step => rows.set(step.number, makeRow(step)));
    sort();
    return element("table", {id: "steps"}, element("thead", {}, element("tr", {}, ...heads)), body);
  };

  const updatesTable = () => {
    if (plan.updates.length === 0) return [];
    return [element("h2", {class: "section"}, "Updates after backward"),
      element("table", {}, element("tbody", {}, ...plan.updates.map(update => element("tr", {},
          element("td", {class: "wrap"}, update.name), element("td", {}, update.op),
          element("td", {}, update.shapes),
          element("td", {class: "number"}, flopsText(update.flops)),
          element("td", {class: "number"}, bytesText(update.bytes)),
          element("td", {class: "number"}, update.time ? timeText(averageTime(update)) : "")))))];
  };

  const kernels = () => {
    const parts = [];
    const byKernel = new Map();
    for (const step of plan.steps) {
      const name = step.kernel || "none";
      if (!byKernel.has(name)) byKernel.set(name, {steps: 0, flops: 0, time: 0});
      const sum = byKernel.get(name);
      ++sum.steps;
      sum.flops += step.flops || 0;
      sum.time += averageTime(step);
    }
    parts.push(element("h2", {class: "section"}, "Kernels chosen"));
    parts.push(element("table", {}, element("tbody", {}, ...[...byKernel].sort((a, b) => b[1].flops - a[1].flops)
        .map(([name, sum]) => element("tr", {}, element("td", {}, name),
            element("td", {class: "number"}, sum.steps + " steps"),
            element("td", {class: "number"}, flopsText(sum.flops)),
            element("td", {class: "number"}, sum.time ? timeText(sum.time) : ""))))));
    const refusals = new Map();
    for (const step of plan.steps)
      for (const reason of step.refused || []) {
        const key = step.op + "\n" + reason;
        if (!refusals.has(key)) refusals.set(key, []);
        refusals.get(key).push(step);
      }
    parts.push(element("h2", {class: "section"}, "Kernels that refused, and why"));
    if (refusals.size === 0)
      parts.push(element("p", {class: "note"}, "None: the first kernel of every operator accepted."));
    else
      parts.push(element("table", {id: "refusals"}, element("tbody", {}, ...[...refusals]
        .sort((a, b) => b[1].length - a[1].length).map(([key, steps]) => {
          const [op, reason] = key.split("\n");
          return element("tr", {onclick: () => select({step: steps[0].number})},
              element("td", {}, op), element("td", {class: "wrap"}, reason),
              element("td", {class: "wrap"}, steps.slice(0, 6).map(step => step.name).join(", ") +
                  (steps.length > 6 ? " and " + (steps.length - 6) + " more" : "")));
        }))));
    const reorders = plan.steps.filter(step => step.op === "reorder");
    parts.push(element("h2", {class: "section"}, "Changes of layout"));
    if (reorders.length === 0)
      parts.push(element("p", {class: "note"}, "None: every kernel takes the layout of its inputs."));
    else
      parts.push(element("table", {id: "reorders"}, element("tbody", {}, ...reorders.map(step => {
        const from = plan.tensors[step.in[0]], to = plan.tensors[step.out[0]];
        return element("tr", {onclick: () => select({step: step.number})},
            element("td", {class: "number"}, step.number), element("td", {class: "wrap"}, step.name),
            element("td", {}, shapeText(to)),
            element("td", {}, (layoutText(from) || "plain") + " → " + (layoutText(to) || "plain")),
            element("td", {class: "number"}, bytesText(step.bytes)));
      }))));
    return parts;
  };

  return {
    start() {
      document.getElementById("view-steps").append(
          element("div", {class: "scroll"}, stepsTable(), ...updatesTable()));
      document.getElementById("view-kernels").append(element("div", {class: "scroll"}, ...kernels()));
      state.listeners.push(what => {
        for (const [number, row] of rows)
          row.classList.toggle("selected", !!what && what.step === number);
      });
    },
    find(numbers) {
      for (const [number, row] of rows) row.hidden = numbers !== null && !numbers.has(number);
    },
  };
})();
