#!/usr/bin/env python3
"""Measures of the source tree: folders, circles between them, lines, long functions, places to touch, sentences, build and test times.

usage: tools/house.py [--check] [--json] [--build DIR]

  --check      print only what breaks a rule (circles between folders, more than 20 files in one, more than 12 virtual functions of a
               class with those that it inherits, a name that two files of a module have in anonymous namespaces, two types of one name,
               error messages that read "problem (why) what to do" in place of "problem: why. What to do."), and end with 1 if anything
               does
  --json       one JSON object in place of the table
  --build DIR  the build whose ninja log and test times are read (build/release)

Times are of the last build of each file and the last run of each test; after a clean build and a whole test run they are those
of both. Places to touch are the existing files that the example of a page docs/how-to/add-*.md edits.
"""

import argparse
import collections
import json
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREES = {"src": ROOT / "src", "tests": ROOT / "tests"}
CODE = {".cpp", ".hpp"}
LONG_FUNCTION = 50
MOST_FILES = 20
MOST_VIRTUAL = 12
# Folders that may have more files: each file is a case of its own, and nobody has to read them together.
ONE_FILE_A_CASE = {("tests", "fuzz")}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
# A type or a constant, whatever its namespace has before it on the line.
OWN_NAME = re.compile(r"^(?:(?:struct|class|enum class|enum) (\w+)|constexpr [^=({;]*?(\w+)(?:\[\w*\])? ?[={;])", re.MULTILINE)
# The begin or end of a namespace, or a type that is defined at the begin of a line.
SCOPE = re.compile(r"^(?:(?:inline )?namespace ([\w:]*) ?\{|(\})  // namespace|(?:struct|class|enum class|enum(?! class)|union|using) (\w+)\b(?!::|;))", re.MULTILINE)
# A class at the begin of a line, with its bases and its body.
CLASS = re.compile(r"^(?:class|struct) (\w+)(?: final)?((?: :)?[^;{]*)\{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
VIRTUAL = re.compile(r"^ +(?:\[\[nodiscard\]\] )?virtual (?!~)", re.MULTILINE)
# Strings, comments and brackets, and the calls whose strings are error messages.
TOKEN = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'|[(){}]')
OF_ERRORS = re.compile(r"(^|::)(check|require\w*|refuse\w*|fail\w*|\w*Error|throw\w*)$")
# A reason in brackets at the end, or a request that is no sentence: "no records (the file is empty) check the path", "twice; delete one".
OLD_MESSAGE = re.compile(r"\w\S* \((?!(?:see|with|from|by) )[^()]* [^()]*\)($|\.$|\. | (?:add|change|check|choose|complete|convert|copy|correct|fetch|give|"
                         r"keep|leave|lower|make|name|raise|remove|rename|restore|start|store|take|use|write)\b)"
                         r"|[)};,] (?:correct|delete|give|leave|remove|take|use|write) (?:it|one|the|them|a|an|others|--\S+)(?: |$)")
NO_FUNCTION = re.compile(r"^(namespace|struct|class|enum|union|using|typedef|template|extern|static_assert|#|//|/\*|\})")


def sources(tree, endings=CODE):
    return sorted(path for path in TREES[tree].rglob("*") if path.suffix in endings)


def folder_of(path, tree):
    return path.parent.relative_to(TREES[tree]).as_posix()


def files_per_folder():
    """For each tree, {folder: number of C++ files}."""
    return {tree: dict(collections.Counter(folder_of(path, tree) for path in sources(tree))) for tree in TREES}


def crowded_folders():
    """[(files, "tree/folder")] of folders with more files than a person keeps in mind."""
    return [(count, f"{TREES[tree].relative_to(ROOT).as_posix()}/{folder}")
            for tree, counts in files_per_folder().items() for folder, count in sorted(counts.items())
            if count > MOST_FILES and (tree, folder) not in ONE_FILE_A_CASE]


def names_twice():
    """[(module, name, files)] of types and constants that several files of a module have in anonymous namespaces: files of a module
    share translation units, and which of them do changes with their sizes (cmake/module.cmake)."""
    files = collections.defaultdict(set)
    for path in sources("src", {".cpp"}):
        module = path.relative_to(TREES["src"]).parts[0]
        for block in ANONYMOUS.findall(path.read_text(encoding="utf-8")):
            for names in OWN_NAME.findall(block):
                files[module, "".join(names)].add(path.relative_to(ROOT).as_posix())
    return [(module, name, sorted(where)) for (module, name), where in sorted(files.items()) if len(where) > 1]


def types_twice():
    """[(name, files)] of types that several files define under one name outside of anonymous namespaces: a program that has both
    may call the constructor or destructor of the other (the one definition rule)."""
    files = collections.defaultdict(set)
    for path in sources("src"):
        scope = []
        for opened, closed, name in SCOPE.findall(path.read_text(encoding="utf-8")):
            if name and "" not in scope:
                files["::".join([*scope, name])].add(path.relative_to(ROOT).as_posix())
            elif closed:
                scope.pop()
            elif not name:
                scope.append(opened)
    return [(name, sorted(where)) for name, where in sorted(files.items()) if len(where) > 1]


def old_messages():
    """["file:line: message"] of errors that read "problem (why) what to do"."""
    found = []
    for path in sources("src"):
        name, text = path.relative_to(TREES["src"]).as_posix(), path.read_text(encoding="utf-8")
        calls, message, end = [], "", 0
        for token in [*TOKEN.finditer(text), None]:
            of_message = token is not None and token[0].startswith('"') and not text[end:token.start()].strip()
            if message and not of_message:
                old = OLD_MESSAGE.search(message)
                if old and ". " not in message[:old.start()] and any(map(OF_ERRORS.search, calls[-4:])):
                    found.append(f"src/{name}:{text.count(chr(10), 0, end) + 1}: {message}")
                message = ""
            if token is None:
                break
            end = token.end()
            if token[0].startswith('"'):
                message += token[0][1:-1]
            elif token[0] == "(":
                called = re.search(r"([\w:]+)(?:<[^<>()]*>)?\s*$", text[max(0, token.start() - 80):token.start()])
                calls.append(called[1] if called else "")
            elif token[0] == ")" and calls:
                calls.pop()
    return found


def places_to_touch():
    """{page: [existing files, other than pages, that its example edits]}: of each diff the files after `--- a/`, else the one named last before it."""
    result = {}
    for page in sorted((ROOT / "docs" / "how-to").glob("add-*.md")):
        edited, before = set(), ""
        for text, language, block in re.findall(r"(.*?)^```(\w*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            before += text
            if language != "diff":
                continue
            named = re.findall(r"^(?:---|\+\+\+) (?:[ab]/)?(\S+)", block, re.MULTILINE)
            of_text = re.findall(r"`((?:src|include|tests|cmake)/[\w./-]+\.\w+|CMakeLists\.txt)`", before)[-1:]
            edited.update(re.findall(r"^--- a/(\S+)", block, re.MULTILINE) if named else of_text)
        result[page.stem] = sorted(name for name in edited if (ROOT / name).exists() and not name.startswith("docs/"))
    return result


def includes_between_folders():
    """{folder: {folder that it includes: "file -> header", an example}} of src."""
    graph = collections.defaultdict(dict)
    for path in sources("src"):
        folder = folder_of(path, "src")
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            found = next((file for file in (path.parent / name, TREES["src"] / name) if file.exists()), None)
            if found is not None and folder_of(found, "src") != folder:
                graph[folder].setdefault(folder_of(found, "src"), f"{path.relative_to(ROOT)} -> {name}")
    return graph


def circles(graph):
    """Groups of folders that reach each other: the strongly connected components with more than one folder."""
    def reached_from(start):
        seen, stack = set(), [start]
        while stack:
            for target in graph.get(stack.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        return seen

    reached = {folder: reached_from(folder) for folder in list(graph)}
    groups = {frozenset(other for other in reached[folder] if folder in reached.get(other, ()))
              for folder in reached if folder in reached[folder]}
    return [sorted(group) for group in sorted(groups, key=sorted)]


def virtual_functions():
    """{class: virtual functions that it declares or inherits} of classes with any."""
    own, bases = collections.Counter(), {}
    for path in sources("src"):
        for name, heritage, body in CLASS.findall(path.read_text(encoding="utf-8")):
            own[name] += len(VIRTUAL.findall(body))
            bases.setdefault(name, set()).update(re.findall(r"(?:public|private|protected) (?:\w+::)*(\w+)", heritage))

    def count(name, seen=()):
        return own[name] + sum(count(base, (*seen, name)) for base in bases.get(name, ()) if base not in seen)

    return {name: count(name) for name in sorted(bases) if count(name)}


def headers_of_methods():
    """{source of a learning method: headers of src that it includes, directly or through others}."""
    includes = {}
    for path in sources("src"):
        places = ((path.parent / name, TREES["src"] / name) for name in INCLUDE.findall(path.read_text(encoding="utf-8")))
        includes[path] = {file.resolve() for pair in places for file in pair if file.exists()}

    def closure(path):
        seen, stack = set(), [path]
        while stack:
            for header in includes.get(stack.pop(), set()) - seen:
                seen.add(header)
                stack.append(header)
        return seen

    return {path.relative_to(ROOT).as_posix(): len(closure(path)) for path in sources("src", {".cpp"})
            if folder_of(path, "src").startswith("methods/")}


def lines_per_module():
    """{module: {tree: lines}}; a module is a first-level folder."""
    result = collections.defaultdict(lambda: dict.fromkeys(TREES, 0))
    for tree in TREES:
        for path in sources(tree):
            module = folder_of(path, tree).split("/")[0]
            result[module][tree] += len(path.read_text(encoding="utf-8").splitlines())
    return dict(sorted(result.items()))


def long_functions():
    """[(lines, "file:line")] of functions of namespace scope in src with more than 50 lines.

    clang-format puts the first line of a definition and its closing brace into the first column; that is all that is relied on.
    """
    found = []
    for path in sources("src"):
        begin, has_body = None, False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if begin is None and line and not line[0].isspace() and "(" in line and not NO_FUNCTION.match(line):
                begin, has_body = number, False
            if begin is None:
                continue
            if not has_body and line.endswith((";", "}")):
                begin = None  # a declaration, or a definition on one line
            has_body = has_body or line.endswith("{")
            if begin is not None and line.startswith("}"):
                if number - begin + 1 > LONG_FUNCTION:
                    found.append((number - begin + 1, f"{path.relative_to(ROOT)}:{begin}"))
                begin = None
    return sorted(found, reverse=True)


def words_per_sentence():
    """{page: (sentences, mean words)} of prose: no code, tables or headings."""
    result = {}
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        prose = "\n".join(line for line in text.splitlines() if not line.startswith(("|", "#", "!")))
        sentences = [part.split() for part in re.split(r"(?<=[.!?:;])\s+", prose)]
        lengths = [len(words) for words in sentences if len(words) > 2]
        if lengths:
            result[page.relative_to(ROOT).as_posix()] = (len(lengths), round(statistics.mean(lengths), 1))
    return result


def build_seconds(build):
    """Step-seconds of all that ninja's log has of the last time each output was made, or None without a log."""
    log = build / ".ninja_log"
    if not log.exists():
        return None
    steps = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        parts = line.split("\t")
        if len(parts) == 5:
            begin, end, _, _, command = parts
            steps[command] = int(end) - int(begin)  # a step with several outputs has a line for each
    return round(sum(steps.values()) / 1000)


def test_seconds(build):
    """(tests, sum of their seconds in the last run of each), or None where no test ran."""
    costs = build / "Testing" / "Temporary" / "CTestCostData.txt"
    if not costs.exists():
        return None
    found = [line.split() for line in costs.read_text(encoding="utf-8").split("---")[0].splitlines()]
    return len(found), round(sum(float(parts[2]) for parts in found if len(parts) == 3))


def measured(build):
    graph = includes_between_folders()
    return {
        "files_per_folder": files_per_folder(),
        "circles": circles(graph),
        "lines_per_module": lines_per_module(),
        "long_functions": long_functions(),
        "virtual_functions": virtual_functions(),
        "headers_of_methods": headers_of_methods(),
        "places_to_touch": places_to_touch(),
        "words_per_sentence": words_per_sentence(),
        "build_step_seconds": build_seconds(build),
        "tests": test_seconds(build),
    }


def table(figures):
    yield "Files per folder      folders  median  most"
    for tree, counts in figures["files_per_folder"].items():
        largest = max(counts, key=counts.get)
        yield f"  {tree:<18}{len(counts):>9}{statistics.median(counts.values()):>8g}{counts[largest]:>6}  ({largest})"
    yield f"Circles between folders: {len(figures['circles'])}"
    yield from (f"  {' <-> '.join(group)}" for group in figures["circles"])
    yield "Lines per module          src     tests"
    totals = dict.fromkeys(TREES, 0)
    for module, lines in figures["lines_per_module"].items():
        yield f"  {module:<16}" + "".join(f"{lines[tree]:>10}" for tree in TREES)
        for tree in TREES:
            totals[tree] += lines[tree]
    yield f"  {'all':<16}" + "".join(f"{totals[tree]:>10}" for tree in TREES)
    functions = figures["long_functions"]
    yield f"Functions of more than {LONG_FUNCTION} lines: {len(functions)}"
    yield from (f"  {lines:>4}  {place}" for lines, place in functions[:10])
    virtual = sorted(figures["virtual_functions"].items(), key=lambda each: (-each[1], each[0]))
    yield "Virtual functions of a class, inherited ones too: " + ", ".join(f"{name} {count}" for name, count in virtual[:6])
    headers = figures["headers_of_methods"]
    if headers:
        most = max(headers, key=headers.get)
        yield f"Headers of ours that a learning method's file drags in: {headers[most]} ({most})"
    yield "Existing files that an addition edits   program  tests"
    for page, places in figures["places_to_touch"].items():
        of_tests = sum(place.startswith("tests/") for place in places)
        yield f"  {page:<36}{len(places) - of_tests:>9}{of_tests:>7}  ({', '.join(places)})"
    yield "Words per sentence"
    yield from (f"  {page:<32}{mean:>6}  ({count} sentences)" for page, (count, mean) in figures["words_per_sentence"].items())
    seconds, tests = figures["build_step_seconds"], figures["tests"]
    yield "Step-seconds of the build: " + ("no ninja log" if seconds is None else str(seconds))
    yield "Seconds of tests: " + ("none ran" if tests is None else f"{tests[1]} ({tests[0]} tests)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only what breaks a rule; ends with 1 if anything does")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", metavar="DIR")
    options = parser.parse_args()
    if options.check:
        graph = includes_between_folders()
        found = circles(graph)
        for group in found:
            print("folders include each other:", ", ".join(group))
            for folder in group:
                for target in sorted(set(group) & set(graph[folder])):
                    print("  ", graph[folder][target])
        crowded = crowded_folders()
        for count, folder in crowded:
            print(f"{folder} has {count} files, more than {MOST_FILES}")
        wide = {name: count for name, count in virtual_functions().items() if count > MOST_VIRTUAL}
        for name, count in wide.items():
            print(f"{name} has {count} virtual functions, more than {MOST_VIRTUAL}")
        twice = names_twice()
        for module, name, files in twice:
            print(f"several files of {module}, which may be one translation unit, have {name} in anonymous namespaces: {', '.join(files)}")
        types = types_twice()
        for name, files in types:
            print(f"several files define {name}: {', '.join(files)}")
        messages = old_messages()
        for message in messages:
            print(f'not "problem: why. What to do.": {message}')
        return 1 if found or crowded or wide or twice or types or messages else 0
    figures = measured(options.build)
    print(json.dumps(figures, indent=1) if options.json else "\n".join(table(figures)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
