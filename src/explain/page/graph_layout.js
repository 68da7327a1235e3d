// The layout of the graph's boxes. Forward runs down on the left, backward runs up on the right,
// each gradient beside the step it belongs to. Layers by longest path, pulled towards their readers;
// long edges reserve space in the layers they cross, very long ones do not; order by barycentres,
// then positions by relaxation. Everything is linear or nearly so: a thousand steps take some tens
// of milliseconds.

const rowHeight = 76, boxHeight = 44, boxGap = 26, farthest = 12;

/// The boxes to be drawn: steps, or whole blocks where they are collapsed, and the inputs.
const makeUnits = collapsed => {
  const units = [], unitOf = new Map(), byKey = new Map();
  const parameter = /(_weight|_bias|_gamma|_beta|_parameters|_moving_\w+|_init_\w+|_state(_cell)?)$/;
  const add = unit => {
    unit.index = units.length;
    unit.preds = new Set();
    unit.succs = new Set();
    unit.width = Math.min(Math.max(unit.label.length, unit.sub.length * 0.86) * 7.7 + 24, 250);
    units.push(unit);
    return unit;
  };
  for (const step of plan.steps) {
    for (const t of step.in) {
      const tensor = plan.tensors[t];
      if (tensor.home !== "argument" || parameter.test(tensor.name) || byKey.has("t" + t)) continue;
      if (step.phase !== "forward") continue;
      byKey.set("t" + t, add({kind: "input", tensor: t, label: tensor.name,
                              sub: shapeText(tensor), phase: "forward", steps: []}));
    }
    const key = step.block !== undefined && collapsed.has(step.block)
        ? step.phase + " " + step.block : step.number;
    if (!byKey.has(key)) {
      const isBlock = typeof key === "string";
      byKey.set(key, add({
        kind: isBlock ? "block" : "step", phase: step.phase, steps: [],
        label: isBlock ? step.block + (step.phase === "backward" ? " ↩" : "") : step.name,
        sub: isBlock ? "" : step.op.replace(/^_backward_/, "∂ ").replace(/_?fused_/, "") + " " +
            (step.result ? shapeText(step.result) : ""),
        block: step.block}));
    }
    const unit = byKey.get(key);
    unit.steps.push(step.number);
    unitOf.set(step.number, unit);
  }
  for (const unit of units) {
    if (unit.kind !== "block") continue;
    const last = plan.steps[unit.steps[unit.steps.length - 1]];
    unit.sub = unit.steps.length + " steps → " + (last.result ? shapeText(last.result) : "");
    unit.width = Math.min(Math.max(unit.label.length, unit.sub.length * 0.86) * 7.7 + 24, 250);
  }
  for (const step of plan.steps) {
    const reader = unitOf.get(step.number);
    for (const t of step.in) {
      const maker = producerOf.has(t) ? unitOf.get(producerOf.get(t)) : byKey.get("t" + t);
      if (!maker || maker === reader) continue;
      maker.succs.add(reader);
      reader.preds.add(maker);
    }
  }
  return {units, unitOf};
};

const layerForward = units => {
  const forward = units.filter(unit => unit.phase === "forward");
  for (const unit of forward) {  // in the order of the plan: what comes before is known
    unit.layer = 0;
    for (const pred of unit.preds)
      if (pred.index < unit.index && pred.layer !== undefined)
        unit.layer = Math.max(unit.layer, pred.layer + 1);
  }
  for (const unit of [...forward].reverse()) {
    let latest = Infinity;
    for (const succ of unit.succs)
      if (succ.phase === "forward" && succ.index > unit.index)
        latest = Math.min(latest, succ.layer - 1);
    if (latest !== Infinity) unit.layer = Math.max(unit.layer, latest);
  }
};

const layerBackward = (units, unitOf) => {
  const backward = units.filter(unit => unit.phase === "backward");
  for (const unit of backward) {
    const of = unit.steps.map(number => plan.steps[number].of).filter(n => n !== undefined);
    if (of.length > 0) unit.layer = Math.max(...of.map(n => unitOf.get(n).layer));
  }
  for (const unit of backward) {
    if (unit.layer !== undefined) continue;
    const known = [...unit.preds].filter(p => p.phase === "backward" && p.layer !== undefined);
    unit.layer = known.length ? Math.min(...known.map(p => p.layer)) : 0;
  }
};

/// Gives the boxes of one lane their x. `towards` is 1 where edges run down, -1 where they run up.
const placeLane = (lane, towards) => {
  const depth = Math.max(0, ...lane.map(unit => unit.layer));
  const layers = Array.from({length: depth + 1}, () => []);
  const points = new Map();
  for (const unit of lane) {
    const point = {unit, layer: unit.layer, width: unit.width, up: [], down: [], x: 0};
    points.set(unit, point);
    layers[unit.layer].push(point);
  }
  const edges = [], farEdges = [];
  for (const unit of lane) {
    for (const succ of unit.succs) {
      if (!points.has(succ)) continue;
      const chain = [points.get(unit)];
      const span = (succ.layer - unit.layer) * towards;
      if (span > farthest) {  // too long to reserve space for: drawn faintly, underneath
        farEdges.push([points.get(unit), points.get(succ)]);
        continue;
      }
      if (span > 1) {
        for (let layer = unit.layer + towards; layer !== succ.layer; layer += towards) {
          const dummy = {layer, width: 14, up: [], down: [], x: 0};
          layers[layer].push(dummy);
          chain.push(dummy);
        }
      }
      chain.push(points.get(succ));
      edges.push(chain);
      for (let i = 0; i + 1 < chain.length; ++i) {
        const [from, to] = towards > 0 ? [chain[i], chain[i + 1]] : [chain[i + 1], chain[i]];
        if (from.layer >= to.layer) continue;
        from.down.push(to);
        to.up.push(from);
      }
    }
  }
  const centre = list => list.reduce((sum, p) => sum + p.rank, 0) / list.length;
  const renumber = layer => layer.forEach((point, rank) => { point.rank = rank; });
  layers.forEach(renumber);
  for (let sweep = 0; sweep < 6; ++sweep) {
    const down = sweep % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) {
      for (const point of layer) {
        const near = down ? point.up : point.down;
        point.weight = near.length ? centre(near) : point.rank;
      }
      layer.sort((a, b) => a.weight - b.weight);
      renumber(layer);
    }
  }
  const spread = layer => {  // keeps the order and the distances, moves as little as possible
    for (let i = 1; i < layer.length; ++i) {
      const least = (layer[i - 1].width + layer[i].width) / 2 + boxGap;
      const short = layer[i - 1].x + least - layer[i].x;
      if (short <= 0) continue;
      layer[i].x += short;
    }
    let excess = 0;
    for (const point of layer) excess += point.x - point.wish;
    excess /= layer.length;
    for (const point of layer) point.x -= excess;
  };
  for (const layer of layers) {
    let x = 0;
    for (const point of layer) {
      point.x = point.wish = x + point.width / 2;
      x += point.width + boxGap;
    }
    for (const point of layer) point.x -= x / 2;
  }
  for (let sweep = 0; sweep < 14; ++sweep) {
    const down = sweep % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) {
      if (layer.length === 0) continue;
      for (const point of layer) {
        const near = sweep < 12 ? (down ? point.up : point.down) : [...point.up, ...point.down];
        point.wish = near.length ? near.reduce((sum, p) => sum + p.x, 0) / near.length : point.x;
        point.x = point.wish;
      }
      spread(layer);
    }
  }
  let left = Infinity, right = -Infinity;
  for (const layer of layers)
    for (const point of layer) {
      left = Math.min(left, point.x - point.width / 2);
      right = Math.max(right, point.x + point.width / 2);
    }
  return {points, edges, farEdges, left, right};
};

/// The path of an edge through its points, straight where it can be.
const edgePath = (chain, towards) => {
  const at = (point, end) => {
    const y = point.layer * rowHeight;
    if (!point.unit) return [point.x, y + boxHeight / 2];
    return [point.x, towards > 0 === end ? y : y + boxHeight];
  };
  let path = "";
  for (let i = 0; i + 1 < chain.length; ++i) {
    const [x0, y0] = at(chain[i], false), [x1, y1] = at(chain[i + 1], true);
    const bend = (y1 - y0) / 2;
    if (i === 0) path += "M" + x0.toFixed(1) + " " + y0;
    path += Math.abs(x1 - x0) < 0.5 ? "L" + x1.toFixed(1) + " " + y1
        : "C" + x0.toFixed(1) + " " + (y0 + bend) + " " + x1.toFixed(1) + " " + (y1 - bend) + " " +
          x1.toFixed(1) + " " + y1;
  }
  return path;
};

/// {units, unitOf, forward path, backward path, size}: every unit with x, y (its centre's x, its top).
const layoutGraph = collapsed => {
  const {units, unitOf} = makeUnits(collapsed);
  layerForward(units);
  layerBackward(units, unitOf);
  const lanes = [["forward", 1], ["backward", -1]];
  const paths = {};
  let x = 0, depth = 0;
  const starts = {};
  for (const [phase, towards] of lanes) {
    const lane = units.filter(unit => unit.phase === phase);
    if (lane.length === 0) continue;
    const {points, edges, farEdges, left, right} = placeLane(lane, towards);
    const shift = x - left;
    points.forEach((point, unit) => {
      point.x += shift;
      unit.x = point.x;
      unit.y = point.layer * rowHeight;
      depth = Math.max(depth, unit.y + boxHeight);
    });
    const moved = new Set(points.values());
    for (const chain of edges)
      for (const point of chain)
        if (!moved.has(point)) {
          moved.add(point);
          point.x += shift;
        }
    paths[phase] = edges.map(chain => edgePath(chain, towards)).join("");
    paths[phase + " far"] = farEdges.map(chain => edgePath(chain, towards)).join("");
    starts[phase] = x;
    x += right - left + 120;
  }
  return {units, unitOf, paths, starts, width: Math.max(x - 120, 1), height: Math.max(depth, 1)};
};
