"""Small texts that stubs and the index are made of."""
import inspect

from symbind.base import _Null

WIDTH = 100


def value_text(value):
    """A default as a stub may show it; "..." stands for an object and for what must be given."""
    if value is _Null or value is inspect.Parameter.empty:
        return "..."
    simple = value is None or isinstance(value, (bool, int, float, str))
    if simple or (isinstance(value, tuple) and all(isinstance(v, (int, float)) for v in value)):
        return repr(value)
    return "..."


def first_line(doc):
    """The summary: the first sentence that fits a line."""
    paragraph = " ".join((doc or "").strip().split("\n\n")[0].split())
    return paragraph.replace("\\", "\\\\").replace('"""', "'''")


def call_text(head, parameters, tail):
    """`head`, the parameters and `tail`, wrapped after the opening bracket."""
    text = head + ", ".join(parameters) + tail
    if len(text) <= WIDTH:
        return text
    lines, line = [], head
    for i, parameter in enumerate(parameters):
        piece = parameter + (", " if i + 1 < len(parameters) else tail)
        if len(line) + len(piece.rstrip()) > WIDTH and line.strip() and line != head:
            lines.append(line.rstrip())
            line = " " * len(head)
        line += piece
    return "\n".join([*lines, line])


def plain_parameters(function):
    """The parameters of a Python function as texts, without annotations."""
    texts = []
    for p in inspect.signature(function).parameters.values():
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        if p.kind == p.KEYWORD_ONLY and not any(t.startswith("*") for t in texts):
            texts.append("*")
        has_default = p.default is not p.empty
        texts.append(star + p.name + (f"={value_text(p.default)}" if has_default else ""))
    return texts
