// The graph on the screen: boxes, edges, panning, zooming, blocks that open and close.

const graphView = (() => {
  const svg = document.getElementById("graph"), canvas = document.getElementById("canvas");
  const collapsed = new Set();
  const blocks = [...new Set(plan.steps.map(step => step.block).filter(b => b !== undefined))];
  let layout = null, view = {x: 0, y: 0, scale: 1}, found = null, colouring = "family";
  let root = null, focus = null, boxes = new Map();

  const measure = {
    flops: unit => unit.steps.reduce((sum, n) => sum + (plan.steps[n].flops || 0), 0),
    bytes: unit => unit.steps.reduce((sum, n) => sum + plan.steps[n].bytes, 0),
    time: unit => unit.steps.reduce((sum, n) => sum + averageTime(plan.steps[n]), 0),
  };
  const familyOfUnit = unit => {
    if (unit.kind === "input") return "movement";
    const heaviest = unit.steps.reduce((best, n) =>
        (plan.steps[n].flops || 0) > (plan.steps[best].flops || 0) ? n : best, unit.steps[0]);
    return plan.steps[heaviest].family;
  };
  const clipped = (text, width) => {
    const most = Math.floor((width - 18) / 7.6);
    return text.length <= most ? text : text.slice(0, Math.max(most - 1, 4)) + "…";
  };

  const paint = () => {
    let most = 0;
    if (colouring !== "family") most = Math.max(...layout.units.map(measure[colouring]));
    for (const [unit, group] of boxes) {
      const box = group.firstChild;
      if (unit.kind === "input") continue;
      const colour = colouring === "family" ? "var(--" + familyOfUnit(unit) + ")" : "var(--accent)";
      const share = most > 0 ? Math.sqrt(measure[colouring](unit) / most) : 0;
      box.style.stroke = colouring === "family" || share > 0.02 ? colour : "var(--faint)";
      box.style.fill = "color-mix(in srgb, " + colour + " " +
          (colouring === "family" ? "calc(var(--fill) * 100%)" : (4 + 66 * share) + "%") +
          ", var(--card))";
    }
    const legend = document.getElementById("legend");
    legend.replaceChildren();
    if (colouring !== "family") {
      legend.append("darker is more");
      return;
    }
    const used = new Set(plan.steps.map(step => step.family));
    for (const [name, text] of families) {
      if (!used.has(name)) continue;
      legend.append(element("span", {},
          element("i", {style: "background: var(--" + name + ")"}), text));
    }
  };

  const drawUnit = unit => {
    const group = drawn("g", {
      class: "node " + unit.kind + (unit.kind === "block" ? " group" : ""),
      transform: "translate(" + (unit.x - unit.width / 2).toFixed(1) + " " + unit.y + ")"});
    group.dataset.name = unit.label;
    group.append(drawn("rect", {class: "box", width: unit.width, height: boxHeight}));
    group.append(drawn("text", {class: "label", x: 10, y: 18}, clipped(unit.label, unit.width)));
    group.append(drawn("text", {class: "sub", x: 10, y: 34}, clipped(unit.sub, unit.width * 1.16)));
    const time = isProfiled && unit.kind !== "input" ? measure.time(unit) : 0;
    if (time > 0) {
      const share = Math.max(2, (unit.width - 16) * time / totalTime);
      group.append(drawn("rect", {class: "heat", x: 8, y: boxHeight - 6, width: share, height: 3,
                                  fill: "var(--loss)"}));
    }
    group.addEventListener("click", event => {
      event.stopPropagation();
      select(unit.kind === "step" ? {step: unit.steps[0]}
          : unit.kind === "block" ? {block: unit.block, steps: unit.steps}
          : {tensor: unit.tensor});
    });
    group.addEventListener("dblclick", event => {
      event.stopPropagation();
      if (unit.block !== undefined) toggle(unit.block);
    });
    group.addEventListener("mousemove", event => {
      const parts = [unit.label, unit.sub];
      if (unit.kind !== "input") {
        parts.push(flopsText(measure.flops(unit)) + ", " + bytesText(measure.bytes(unit)));
        if (time > 0) parts.push(timeText(time) + ", " + percentText(time / totalTime));
      }
      showTip(event, parts.join("\n"));
    });
    group.addEventListener("mouseleave", hideTip);
    return group;
  };

  const draw = () => {
    layout = layoutGraph(collapsed);
    svg.replaceChildren();
    boxes = new Map();
    root = drawn("g");
    for (const phase of ["forward", "backward"]) {
      if (layout.paths[phase] === undefined) continue;
      root.append(drawn("path", {class: "edges far-edges", d: layout.paths[phase + " far"]}));
      root.append(drawn("path", {class: "edges " + (phase === "backward" ? "back" : ""),
                                 d: layout.paths[phase]}));
      root.append(drawn("text", {class: "lane", x: layout.starts[phase], y: -22},
          phase === "forward" ? "forward ↓" : "backward ↑"));
    }
    focus = drawn("path", {class: "focus-edges"});
    root.append(focus);
    for (const unit of layout.units) {
      const group = drawUnit(unit);
      boxes.set(unit, group);
      root.append(group);
    }
    svg.append(root);
    paint();
    mark();
    move();
  };

  const move = () => {
    root.setAttribute("transform",
        "translate(" + view.x.toFixed(2) + " " + view.y.toFixed(2) + ") scale(" +
        view.scale.toFixed(4) + ")");
    root.classList.toggle("far", view.scale < 0.5);
    root.classList.toggle("farther", view.scale < 0.26);
  };

  const fit = () => {
    const width = canvas.clientWidth || 1200, height = canvas.clientHeight || 700;
    view.scale = Math.min(1.3, (width - 60) / layout.width, (height - 80) / (layout.height + 40));
    view.x = (width - layout.width * view.scale) / 2;
    view.y = Math.max(44, (height - layout.height * view.scale) / 2 + 10);
    move();
  };

  /// The first view: all of it if it is readable, else its beginning.
  const open = () => {
    fit();
    if (view.scale >= 0.5) return;
    const width = canvas.clientWidth || 1200;
    view.scale = Math.min(0.8, Math.max(0.5, (width - 60) / layout.width));
    const first = layout.units[0];  // what is wider than the window begins with its first box
    view.x = layout.width * view.scale < width ? (width - layout.width * view.scale) / 2
                                               : width / 2 - first.x * view.scale;
    view.y = 48;
    move();
  };

  const zoom = (factor, x, y) => {
    const scale = Math.min(4, Math.max(0.02, view.scale * factor));
    view.x = x - (x - view.x) * scale / view.scale;
    view.y = y - (y - view.y) * scale / view.scale;
    view.scale = scale;
    move();
  };

  const toggle = block => {
    const before = layout.units.find(unit => unit.block === block);
    const at = before && [view.x + before.x * view.scale, view.y + before.y * view.scale];
    if (collapsed.has(block)) collapsed.delete(block); else collapsed.add(block);
    draw();
    const after = layout.units.find(unit => unit.block === block);
    if (before && after) {  // what was opened stays under the pointer
      view.x = at[0] - after.x * view.scale;
      view.y = at[1] - after.y * view.scale;
      move();
    }
  };

  const unitsOfSelection = () => {
    const what = state.selected;
    if (!what || !layout) return [];
    return layout.units.filter(unit =>
        what.step !== undefined ? unit.steps.includes(what.step)
        : what.block !== undefined ? unit.kind === "block" && unit.block === what.block
        : what.tensor !== undefined && unit.tensor === what.tensor);
  };

  /// The chosen box with everything that flows in and out of it, across the lanes too.
  const mark = () => {
    const chosen = new Set(unitsOfSelection());
    let path = "";
    for (const unit of chosen) {
      for (const other of [...unit.preds, ...unit.succs]) {
        const [from, to] = unit.preds.has(other) ? [other, unit] : [unit, other];
        const level = Math.abs(from.y - to.y) < rowHeight && from !== to;
        const side = to.x > from.x ? 1 : -1;
        const [x0, y0] = level ? [from.x + side * from.width / 2, from.y + boxHeight / 2]
            : [from.x, from.y < to.y ? from.y + boxHeight : from.y];
        const [x1, y1] = level ? [to.x - side * to.width / 2, to.y + boxHeight / 2]
            : [to.x, from.y < to.y ? to.y : to.y + boxHeight];
        const bend = level ? 0 : (y1 - y0) / 2, lean = level ? (x1 - x0) / 2 : 0;
        path += "M" + x0 + " " + y0 + "C" + (x0 + lean) + " " + (y0 + bend) + " " + (x1 - lean) +
                " " + (y1 - bend) + " " + x1 + " " + y1;
      }
    }
    focus.setAttribute("d", path);
    for (const [unit, group] of boxes) {
      const isFound = found !== null && unit.steps.some(n => found.has(n));
      group.classList.toggle("selected", chosen.has(unit));
      group.classList.toggle("found", isFound);
      group.classList.toggle("dim", found !== null && !isFound);
    }
  };

  const reveal = number => {
    const step = plan.steps[number];
    if (step.block !== undefined && collapsed.has(step.block)) {
      collapsed.delete(step.block);
      draw();
    }
    const unit = layout.unitOf.get(number);
    if (view.scale < 0.5) view.scale = 0.8;
    view.x = canvas.clientWidth / 2 - unit.x * view.scale;
    view.y = canvas.clientHeight / 2 - unit.y * view.scale;
    move();
  };

  const listen = () => {
    let from = null;
    canvas.addEventListener("pointerdown", event => {
      from = {x: event.clientX - view.x, y: event.clientY - view.y, moved: false,
              id: event.pointerId};
    });
    canvas.addEventListener("pointermove", event => {
      if (!from) return;
      const x = event.clientX - from.x, y = event.clientY - from.y;
      if (!from.moved && Math.abs(x - view.x) + Math.abs(y - view.y) < 4) return;
      if (!from.moved) canvas.setPointerCapture(from.id);
      from.moved = true;
      canvas.classList.add("dragging");
      [view.x, view.y] = [x, y];
      move();
    });
    const release = () => {
      from = null;
      canvas.classList.remove("dragging");
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      const step = event.deltaMode === 1 ? 30 : 1;
      zoom(Math.exp(-event.deltaY * step * 0.0016), event.clientX - box.left,
           event.clientY - box.top);
    }, {passive: false});
    const centred = factor => () => zoom(factor, canvas.clientWidth / 2, canvas.clientHeight / 2);
    document.getElementById("fit").onclick = fit;
    document.getElementById("zoom-in").onclick = centred(1.35);
    document.getElementById("zoom-out").onclick = centred(1 / 1.35);
    document.getElementById("collapse-all").onclick = () => {
      blocks.forEach(block => collapsed.add(block));
      draw();
      open();
    };
    document.getElementById("expand-all").onclick = () => {
      collapsed.clear();
      draw();
      open();
    };
    document.getElementById("colour").onchange = event => {
      colouring = event.target.value;
      paint();
    };
  };

  return {
    start() {
      for (const id of ["collapse-all", "expand-all"])
        document.getElementById(id).hidden = blocks.length === 0;
      if (!isProfiled) document.querySelector("#colour option[value=time]").remove();
      if (plan.totals.forward_steps > 60) blocks.forEach(block => collapsed.add(block));
      listen();
      draw();
      open();
      state.listeners.push(mark);
    },
    open, reveal, toggle,
    find(numbers) {
      found = numbers;
      mark();
    },
  };
})();
