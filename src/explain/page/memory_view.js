// The memory of each device over time: steps to the right, bytes upwards. A block is drawn at its
// place in the arena; blocks never overlap. The line shows the live bytes at each step.

const memoryView = (() => {
  const width = 1180, height = 430, margin = {left: 74, right: 18, top: 16, bottom: 30};

  const kindOf = (block, tensor) => {
    const [, first, last] = block;
    if (!tensor) return "workspace";
    const forward = plan.totals.forward_steps;
    if (first >= forward) return "gradient";
    return last >= forward ? "saved" : "passing";
  };
  const kinds = [["saved", "kept by forward for backward"], ["passing", "used within its phase"],
                 ["gradient", "made by backward"], ["workspace", "workspace of one step"]];

  const niceStep = most => {
    const power = Math.pow(2, Math.floor(Math.log2(Math.max(most, 1) / 5)));
    return [1, 2, 4].map(f => f * power).find(step => most / step <= 6) || power * 4;
  };

  const picture = device => {
    const svg = drawn("svg", {class: "memory-picture", viewBox: "0 0 " + width + " " + height,
                              role: "img"});
    svg.append(drawn("title", {}, "Memory of " + device.device + " by step"));
    const steps = plan.steps.length, most = Math.max(device.arena_bytes, 1);
    const x = step => margin.left + step * (width - margin.left - margin.right) / steps;
    const y = bytes => height - margin.bottom - bytes * (height - margin.top - margin.bottom) / most;
    const unit = niceStep(most);
    for (let bytes = 0; bytes <= most; bytes += unit) {
      svg.append(drawn("line", {class: "rule", x1: margin.left, x2: width - margin.right,
                                y1: y(bytes), y2: y(bytes)}));
      svg.append(drawn("text", {class: "axis", x: margin.left - 8, y: y(bytes) + 4,
                                "text-anchor": "end"}, bytesText(bytes)));
    }
    const every = Math.max(1, Math.ceil(steps / 12));
    for (let step = 0; step < steps; step += every)
      svg.append(drawn("text", {class: "axis", x: x(step + 0.5), y: height - 10,
                                "text-anchor": "middle"}, step));
    device.blocks.forEach(block => {
      const [number, first, last, offset, bytes] = block;
      const tensor = number >= 0 ? plan.tensors[number] : null;
      const thin = y(offset) - y(offset + bytes) < 3 || x(last + 1) - x(first) < 3;
      const rect = drawn("rect", {
        class: "block kind-" + kindOf(block, tensor) + (thin ? " thin" : ""),
        x: x(first).toFixed(2), y: y(offset + bytes).toFixed(2),
        width: Math.max(x(last + 1) - x(first), 0.6).toFixed(2),
        height: Math.max(y(offset) - y(offset + bytes), 0.4).toFixed(2)});
      const name = tensor ? tensor.name : "workspace of " + plan.steps[first].name;
      rect.addEventListener("mousemove", event => showTip(event,
          name + (tensor ? "  " + shapeText(tensor) + " " + tensor.dtype : "") + "\n" +
          bytesText(bytes) + " at " + offset + "\nsteps " + first + " to " + last));
      rect.addEventListener("mouseleave", hideTip);
      rect.addEventListener("click", () => select({step: first}));
      rect.dataset.step = first;
      svg.append(rect);
    });
    const forward = plan.totals.forward_steps;
    if (forward < steps)
      svg.append(drawn("line", {class: "border", x1: x(forward), x2: x(forward), y1: margin.top,
                                y2: height - margin.bottom}));
    let path = "";
    device.live_bytes.forEach((live, step) => {
      path += (step === 0 ? "M" : "L") + x(step).toFixed(1) + " " + y(live).toFixed(1) +
              "L" + x(step + 1).toFixed(1) + " " + y(live).toFixed(1);
    });
    if (path) svg.append(drawn("path", {class: "live", d: path}));
    return svg;
  };

  return {
    start() {
      const place = document.getElementById("view-memory");
      const scroll = element("div", {class: "scroll"});
      for (const device of plan.memory) {
        const peak = Math.max(0, ...device.live_bytes);
        const at = device.live_bytes.indexOf(peak);
        scroll.append(element("h2", {class: "section"}, "Memory of " + device.device + " over time"));
        if (device.blocks.length === 0) {
          scroll.append(element("p", {class: "note"},
              "Nothing is kept between steps: everything is in bound arrays."));
          continue;
        }
        const largest = device.blocks.filter(([, first, last]) => first <= at && at <= last)
            .sort((a, b) => b[4] - a[4]).slice(0, 8);
        scroll.append(element("p", {class: "note"},
            "The arena takes " + bytesText(device.arena_bytes) + "; at most " + bytesText(peak) +
            " of it live at once, in step " + at + " (" + plan.steps[at].name + "). " +
            "Parameters, gradients and outputs are separate arrays and not in it."));
        scroll.append(element("div", {class: "key"}, ...kinds.map(([kind, text]) =>
            element("span", {}, element("i", {style: "background: var(--" + kind + ")"}), text)),
            element("span", {}, "— live bytes")));
        scroll.append(picture(device));
        scroll.append(element("h2", {class: "section"}, "Largest at the peak"));
        scroll.append(element("table", {}, element("tbody", {}, ...largest.map(block => {
          const tensor = block[0] >= 0 ? plan.tensors[block[0]] : null;
          return element("tr", {onclick: () => select({step: block[1]})},
              element("td", {class: "wrap"},
                  tensor ? tensor.name : "workspace of " + plan.steps[block[1]].name),
              element("td", {}, tensor ? shapeText(tensor) + " " + tensor.dtype : ""),
              element("td", {class: "number"}, bytesText(block[4])),
              element("td", {}, "steps " + block[1] + " to " + block[2]));
        }))));
      }
      place.append(scroll);
      state.listeners.push(what => {
        for (const rect of place.querySelectorAll(".block"))
          rect.classList.toggle("selected",
              !!what && what.step !== undefined && Number(rect.dataset.step) === what.step);
      });
    },
  };
})();
