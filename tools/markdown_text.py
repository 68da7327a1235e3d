"""Links, headings and code spans of Markdown, as code hosts read them: for tools/check_links and tools/site."""

import collections
import re

FENCE = re.compile(r"^( *)(```+|~~~+)[^\n]*\n.*?^ *\2[`~]* *$", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
TARGET = re.compile(r"\]\((?P<inline>[^()\s]*)\)|\b(?:src|href)=\"(?P<html>[^\"]*)\"|^\[[^\]]+\]: +(?P<named>\S+)",
                    re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")


def blank(match):
    """As many blanks; line ends stay, so that positions do not change."""
    return re.sub(r"[^\n]", " ", match.group())


def without_blocks(text):
    """The text with code blocks and comments blanked."""
    return COMMENT.sub(blank, FENCE.sub(blank, text))


def code_spans(text):
    """(position, content) of each `span` outside code blocks."""
    return [(m.start(), m.group(2)) for m in SPAN.finditer(without_blocks(text))]


def links(text):
    """(start, end, target) of each link's target outside code."""
    found = []
    for match in TARGET.finditer(SPAN.sub(blank, without_blocks(text))):
        start, end = match.span(match.lastgroup)
        found.append((start, end, text[start:end]))
    return found


def is_relative(target):
    """Whether a link's target is in the repository."""
    return not ELSEWHERE.match(target)


def slug(heading, _separator="-"):
    """The anchor of a heading, by the rule of the code hosts."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(text):
    """How often each anchor occurs."""
    headings = HEADING.findall(without_blocks(text))
    return collections.Counter(slug(re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading)) for heading in headings)
