// What is known of the chosen step, block or input, beside the picture.

const detailsView = (() => {
  const place = document.getElementById("details");
  const pair = (name, value) =>
      element("div", {class: "pair"}, element("span", {}, name), element("b", {}, value));
  const linkTo = (number, text) => element("a", {class: "go", onclick: () => {
    select({step: number});
    graphView.reveal(number);
  }}, text);

  const tensorItem = (t, others) => {
    const tensor = plan.tensors[t];
    const facts = [shapeText(tensor), tensor.dtype, layoutText(tensor), bytesText(tensor.bytes)];
    facts.push("offset" in tensor ? tensor.home + " at " + tensor.offset : tensor.home);
    const links = others.slice(0, 4).flatMap((n, i) =>
        [i === 0 ? "" : ", ", linkTo(n, plan.steps[n].name)]);
    if (others.length > 4) links.push(" and " + (others.length - 4) + " more");
    return element("li", {}, tensor.name, element("small", {}, facts.filter(Boolean).join(" · ")),
        links.length ? element("small", {}, ...links) : null);
  };

  const costPairs = (flops, bytes, time) => {
    const parts = [pair("FLOPs", flopsText(flops)), pair("Bytes read and written", bytesText(bytes))];
    if (flops) parts.push(pair("FLOPs per byte", (flops / bytes).toFixed(1)));
    if (time > 0) {
      parts.push(pair("Time", timeText(time)), pair("Share of the run", percentText(time / totalTime)));
      if (flops)
        parts.push(pair("Speed", rateText(1e9 * flops / time, "FLOP") + " · " +
                                 percentText(1e9 * flops / time / plan.peak.flops) + " of peak"));
      parts.push(pair("Memory", rateText(1e9 * bytes / time, "B") + " · " +
                                percentText(1e9 * bytes / time / plan.peak.bytes) + " of peak"));
    }
    return parts;
  };

  const showStep = number => {
    const step = plan.steps[number];
    const parts = [element("h2", {}, step.name),
      element("p", {class: "op"}, step.op + " · step " + number + ", " + step.phase + " on " +
                                  step.device)];
    if (step.block !== undefined)
      parts.push(element("p", {class: "op"}, "in block ",
          element("a", {class: "go", onclick: () => graphView.toggle(step.block)}, step.block)));
    if (step.of !== undefined)
      parts.push(element("p", {class: "op"}, "gradient of ", linkTo(step.of, plan.steps[step.of].name)));
    parts.push(element("h3", {}, "Kernel"),
        element("p", {class: "op"}, element("span", {class: "tag chosen"}, step.kernel || "none"),
            step.random ? " draws random numbers" : ""));
    for (const reason of step.refused || []) {
      const cut = reason.indexOf(": ");
      parts.push(element("p", {class: "op refused"}, element("b", {}, reason.slice(0, cut)),
                         " refused: " + reason.slice(cut + 2)));
    }
    parts.push(element("h3", {}, "Cost of a run"), ...costPairs(step.flops, step.bytes, averageTime(step)));
    if (step.time)
      parts.push(pair("Runs", step.time.runs + " (" + timeText(step.time.min_ns) + " to " +
                              timeText(step.time.max_ns) + ")"));
    if (step.workspace) parts.push(pair("Workspace", bytesText(step.workspace.bytes)));
    parts.push(element("h3", {}, "Inputs"), element("ul", {}, ...step.in.map(t =>
        tensorItem(t, producerOf.has(t) ? [producerOf.get(t)] : []))));
    parts.push(element("h3", {}, "Outputs"), element("ul", {}, ...step.out
        .filter(t => plan.tensors[t].home !== "unused")
        .map(t => tensorItem(t, (readersOf.get(t) || []).filter(n => n !== number)))));
    const attributes = Object.entries(step.attributes || {});
    if (attributes.length)
      parts.push(element("h3", {}, "Attributes"), ...attributes.map(([k, v]) => pair(k, v)));
    place.replaceChildren(...parts);
  };

  const showBlock = (block, numbers) => {
    const sum = read => numbers.reduce((all, n) => all + read(plan.steps[n]), 0);
    place.replaceChildren(element("h2", {}, block),
        element("p", {class: "op"}, numbers.length + " steps · ",
            element("a", {class: "go", onclick: () => graphView.toggle(block)}, "open or close")),
        element("h3", {}, "Cost of a run"),
        ...costPairs(sum(s => s.flops || 0), sum(s => s.bytes), sum(averageTime)),
        element("h3", {}, "Steps"),
        element("ul", {}, ...numbers.map(n => element("li", {}, linkTo(n, plan.steps[n].name),
            element("small", {}, plan.steps[n].op +
                (plan.steps[n].result ? " → " + shapeText(plan.steps[n].result) : ""))))));
  };

  const showNothing = () => {
    const heaviest = [...plan.steps].sort((a, b) => isProfiled
        ? averageTime(b) - averageTime(a) : (b.flops || 0) - (a.flops || 0)).slice(0, 8);
    const t = plan.totals;
    place.replaceChildren(element("h2", {}, "The plan"),
        element("p", {class: "op"}, "Choose a box, a row or a block of memory to see all about it."),
        element("h3", {}, isProfiled ? "Slowest steps" : "Most FLOPs"),
        element("ul", {}, ...heaviest.map(step => element("li", {}, linkTo(step.number, step.name),
            element("small", {}, step.op + " · " + (isProfiled
                ? timeText(averageTime(step)) + ", " + percentText(averageTime(step) / totalTime)
                : flopsText(step.flops)))))),
        element("h3", {}, "Arrays of the executor"),
        pair("Arguments", bytesText(t.argument_bytes)), pair("Gradients", bytesText(t.gradient_bytes)),
        pair("Auxiliary states", bytesText(t.auxiliary_bytes)),
        pair("Outputs", bytesText(t.output_bytes)),
        ...(plan.peak ? [element("h3", {}, "Peak of this machine, measured"),
            pair("float32 arithmetic", rateText(plan.peak.flops, "FLOP")),
            pair("Memory", rateText(plan.peak.bytes, "B"))] : []));
  };

  return {
    start() {
      showNothing();
      state.listeners.push(what => {
        if (!what) showNothing();
        else if (what.step !== undefined) showStep(what.step);
        else if (what.block !== undefined) showBlock(what.block, what.steps);
        else place.replaceChildren(element("h2", {}, plan.tensors[what.tensor].name),
            element("p", {class: "op"}, "an input"),
            element("ul", {}, tensorItem(what.tensor, readersOf.get(what.tensor) || [])));
      });
    },
  };
})();
