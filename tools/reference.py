#!/usr/bin/env python3
"""Writes docs/reference/options.md from the help texts of the program, so that the page cannot go stale.

usage: tools/reference.py STARLING [--check]

  STARLING  the program whose `COMMAND --help=all` is read
  --check   write nothing; end with 1 if the page differs from what would be written
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "reference" / "options.md"
OPTION = re.compile(r"^  (--[a-z][a-z0-9-]*)(?: (\S+(?: \(=[^)]*\))?))?(?: +(\S.*))?$")
OPERAND = re.compile(r"^  ([A-Z]{4,}) {2,}(\S.*)$")
MEMBER = re.compile(r"^  (\S.*?)(?: {2,}(\S.*))?$")
HEADING = re.compile(r"^([A-Z][^:.]*?)(?: \((.*)\))?:?$")
NO_FAMILY = ("Example", "Commands", "Files", "Groups", "Writes")
INTRODUCTION = """# Options

`tools/reference.py` writes this page from the help texts of the program, and a test compares both.
Do not edit this page: edit the help texts, then run `tools/reference.py build/release/starling`.

An option is written `--name VALUE`. An option without a value is a switch. Options may also stand in a file
([config.md](config.md)). A default in the third column is that of `--help`; "in the text" means that the default depends on
other options, and that the last column states it.
"""


def text_of(program, *words):
    env = {**os.environ, "OMPI_MCA_ess_singleton_isolated": "1"}
    return subprocess.run([program, *words, "--help=all"], check=True, capture_output=True, text=True, env=env).stdout


def commands(program):
    """[(words, help text)] of every command that has options of its own."""
    found = []
    for name in re.findall(r"^  starling ([a-z]+) ", text_of(program), re.M):
        text = text_of(program, name)
        below = re.search(r"^Commands[^\n]*\n((?:  .*\n)+)", text, re.M)
        if below is None:
            found.append((name, text))
            continue
        parts = re.findall(r"^  ([a-z]+) ", below[1], re.M)
        found += [(f"{name} {part}", text_of(program, name, part)) for part in parts]
        found.append((name, text))
    return found


def blocks(text):
    """(heading, remark in parentheses, lines) of each heading that is followed by indented lines."""
    heading, lines = None, []
    for line in [*text.splitlines(), ""]:
        if line.startswith("  ") and heading:
            lines.append(line)
            continue
        if heading and lines:
            yield heading[1], heading[2], lines
        heading, lines = HEADING.match(line), []


def options_in(lines):
    """[(name, value, default, meaning)] of a block of options."""
    found = []
    for line in lines:
        match = OPTION.match(line)
        operand = None if match else OPERAND.match(line)
        if match:
            found.append([match[1], match[2] or "", match[3] or ""])
        elif operand:
            found.append([operand[1], "", operand[2]])
        elif found:
            found[-1][2] += " " + line.strip()
    return [split_default(*each) for each in found]


def split_default(name, value, text):
    text = re.sub(r"\s+", " ", text).strip()
    implied = re.fullmatch(r"(.*) \(=(.*)\)", value)
    if implied:
        return name, implied[1], implied[2], text
    last = re.fullmatch(r"(.*?) \[([^\[\]]*)\]", text)
    if last:
        return name, value, last[2], last[1]
    return name, value, "in the text" if re.search(r"\bdefault:", text, re.I) else "", text


def members_in(lines):
    """[(name, meaning, [(parameter, meaning)])] of a block that lists the members of a family."""
    found = []
    for line in lines:
        if not line.startswith("   "):
            match = MEMBER.match(line)
            found.append([match[1], match[2] or "", []])
        elif found:
            text = line.strip()
            parameter = re.match(r"([a-z_]+): (.*)", text) if line.startswith(" " * 33) else None
            if parameter:
                found[-1][2].append((parameter[1], parameter[2]))
            else:
                found[-1][1] = f"{found[-1][1]} {text}".strip()
    return found


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def code(text):
    return f"`{text}`".replace("|", "\\|") if text else ""


def option_table(helps):
    rows = {}
    for command, text in helps:
        for _, _, lines in blocks(text):
            if not any(OPTION.match(line) for line in lines):
                continue
            for option in options_in(lines):
                rows.setdefault(option, []).append(command)
    yield "| option | value | default | commands | meaning |"
    yield "| --- | --- | --- | --- | --- |"
    for (name, value, default, meaning), users in sorted(rows.items(), key=lambda row: (row[0][0].lstrip("-"), row[0])):
        shown = default if default in ("", "in the text") else code(default)
        yield f"| `{name}` | {code(value)} | {shown} | {', '.join(users)} | {cell(meaning)} |"


def families(helps):
    """{title: ({member: commands}, {remark: commands})}."""
    found = {}
    for command, text in helps:
        for title, remark, lines in blocks(text):
            if any(OPTION.match(line) for line in lines) or title.startswith(NO_FAMILY):
                continue
            members, remarks = found.setdefault(title, ({}, {}))
            for name, meaning, parameters in members_in(lines):
                users = members.setdefault((name, meaning, tuple(parameters)), [])
                if command not in users:
                    users.append(command)
            if remark:
                remarks.setdefault(remark, []).append(command)
    return found


def family_tables(helps):
    for title, (members, remarks) in families(helps).items():
        yield f"\n## {title}\n"
        for remark, users in remarks.items():
            yield f"`{', '.join(users)}`: {cell(remark)}.\n"
        yield "| name | commands | meaning |"
        yield "| --- | --- | --- |"
        for (name, meaning, parameters), users in members.items():
            lines = [cell(meaning)] * bool(meaning) + [f"`{key}`: {cell(text)}" for key, text in parameters]
            yield f"| {code(name)} | {', '.join(users)} | {'<br>'.join(lines)} |"


def page(program):
    helps = commands(program)
    return "\n".join([INTRODUCTION, *option_table(helps), *family_tables(helps)]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="STARLING")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    text = page(options.program)
    if not options.check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE.name} is not what the program's help says: run tools/reference.py {options.program}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
