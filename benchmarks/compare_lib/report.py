"""Results as Markdown."""
from . import arithmetic, peers

ORDER = ("symbind", "mxnet", "torch", "onnxruntime", "openvino")
GROUPS = {"main": "Well-known networks and overhead", "users": "Users' models, prediction",
          "training": "Users' models, training"}


def digits(value):
    return "%.0f" % value if value >= 100 else "%.3g" % value


def time_text(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= (10 if unit == "s" else 1):
            return "%s %s" % (digits(seconds * factor), unit)
    return "%s ns" % digits(seconds * 1e9)


def figure_text(found):
    return "%s GB" % digits(found["bytes"] / 1e9) if "bytes" in found else time_text(found["seconds"])


def cell(found, is_ours):
    if found is None:
        return "–"
    if "error" in found:
        return "no twin" if "NoTwin" in found["error"] else "–"
    text = figure_text(found)
    if "slower" in found:
        text += ", %.2f× its unloaded time" % found["slower"]
    if not is_ours and "ratio" in found:
        text += " (%.2f×, %.2f×)" % (found["ratio"], found["worst_quartile"])
    return text + ("" if found.get("agrees", True) else " **DIFFERS by %.1g**" % found["difference"])


def title(engine, versions):
    return "%s %s" % (peers.TITLES[engine], versions[engine].split("+")[0]) if engine in versions else \
        peers.TITLES[engine] + " (MISSING)"


def table(results, engines, versions):
    lines = ["| work | threads | %s |" % " | ".join(title(e, versions) for e in engines),
             "|---" * (len(engines) + 2) + "|"]
    for r in results:
        cells = [cell(r["engines"].get(e), e == "symbind") for e in engines]
        lines.append("| %s | %d | %s |" % (r["row"], r["threads"], " | ".join(cells)))
    return lines


def means(results, engines):
    """Lines with the geometric mean of each peer's ratios."""
    for engine in engines:
        values = [r["engines"][engine]["ratio"] for r in results
                  if r["engines"].get(engine, {}).get("ratio") and engine != "symbind"]
        if values:
            worst = min(((r["engines"][engine]["ratio"], r["row"], r["threads"]) for r in results
                         if r["engines"].get(engine, {}).get("ratio")))
            yield "- %s: geometric mean %.2f× over %d figures; least %.2f× (%s, %d threads)" % (
                peers.TITLES[engine], arithmetic.geometric_mean(values), len(values), *worst)


def notes(results):
    """What an engine could not run, Symbind's comparison with itself, and modes that were tried."""
    for r in results:
        where = "%s, %d threads" % (r["row"], r["threads"])
        if "error" in r:
            yield "- %s: NOT MEASURED: %s" % (where, r["error"])
        for engine, found in r["engines"].items():
            if "error" in found:
                yield "- %s: %s: %s" % (where, peers.TITLES[engine], found["error"].replace("\n", " ")[:300])
            elif engine not in peers.TITLES:
                yield "- %s: %s takes %s; the ratio is %.2f×" % (where, engine, figure_text(found), 1 / found["ratio"])
            elif len(found.get("modes_tried", {})) > 1:
                tried = ", ".join("%s %s" % (m, time_text(s)) for m, s in found["modes_tried"].items())
                yield "- %s: %s: %s; %s counts" % (where, peers.TITLES[engine], tried, found["mode"])


def markdown(run):
    """The whole report. `run` is what --json writes."""
    machine, versions = run["machine"], run["versions"]
    lines = ["%s, %s, %d cores, %s; load %.1f before the run." % (
        run["date"], machine["cpu"], machine["cores"], machine["isa"], machine["load"])]
    for threads, peak in sorted(machine["peak"].items()):
        lines.append("Probes with %s threads: %.0f GFLOP/s by fused multiply-adds (float32), copy %.1f GB/s." % (
            threads, peak["GFLOP/s"], peak["GB/s"]))
    lines += ["Up to %d rounds in turns. In brackets: the time as a multiple of Symbind's, median and worst quartile of "
              "the rounds; above 1 Symbind is faster." % run["rounds"], ""]
    if run["cpu_time"]:
        lines += ["**Processor time, not wall time.**", ""]
    for engine, reason in run["missing"].items():
        lines += ["**%s IS MISSING: %s.**" % (peers.TITLES[engine], reason), ""]
    for engine in run["isa_notes"]:
        lines += ["%s has no switch for the instruction set: it runs with all that the CPU has." % peers.TITLES[engine],
                  ""]
    for group, heading in GROUPS.items():
        results = [r for r in run["results"] if r["group"] == group]
        if results:
            engines = [e for e in ORDER if e in run["missing"] or any(e in r["engines"] for r in results)]
            lines += ["### " + heading, "", *table(results, engines, versions), "", *means(results, engines), ""]
    noted = list(notes(run["results"]))
    if noted:
        lines += ["### Notes", "", *noted, ""]
    return "\n".join(lines)
