"""List what users read: every message, parameter text, attribute text, help text and first docstring line.

python tools/list_words.py                 all, as KIND FILE:LINE TEXT
python tools/list_words.py --kind message  one kind: message, parameter, attribute, help, docstring
python tools/list_words.py --count         how many of each
python tools/list_words.py --internal      docstrings of what is not public too

Values that a message is filled with are shown as {…}. The list is for reading: does each line say what it means to
somebody who knows scikit-learn and has never seen gramfold? docs/glossary.md has the words to use.
"""

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "gramfold"
KINDS = ("message", "parameter", "attribute", "help", "docstring")
# calls whose first argument is read by a user
SAYING = {"warn", "echo", "say", "_tell", "_warn", "BadParameter", "info"}
TEXTS_OF = {"parameter": "words", "attribute": 1, "option": "help"}  # keyword, or place of the argument
PRIVATE_ROOMS = {"direct", "extension", "graph", "kernels", "neighbors", "runtime", "spectral", "embedding", "sdp"}


@dataclass(frozen=True)
class Text:
    """One text, and where it stands."""

    kind: str
    path: Path
    line: int
    words: str


def text_of(node: ast.expr | None) -> str | None:
    """The text of a string, an f-string, or a sum of these; None of anything else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) or "{…}" for part in parts)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            texts = [text_of(left), text_of(right)]
            return None if texts == [None, None] else "".join("{…}" if text is None else text for text in texts)
        case ast.IfExp(body=first, orelse=second):
            texts = [text for text in (text_of(first), text_of(second)) if text]
            return " | ".join(texts) or None
    return None


def name_of(node: ast.expr) -> str:
    """The last name of a called function."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_message(text: str) -> bool:
    """Whether a string in code is a sentence, or a part of one, and not a name or a key."""
    return len(text.split()) >= 4


class Reader(ast.NodeVisitor):
    """Collects the texts of one file."""

    def __init__(self, path: Path, *, internal: bool) -> None:
        self.path, self.internal = path, internal
        self.found: list[Text] = []
        self.hidden = 0  # functions and classes around this one that are not public
        self.taken: set[int] = set()  # strings that were listed, or are docstrings

    def add(self, kind: str, node: ast.AST, text: str | None) -> None:
        for child in ast.walk(node):
            self.taken.add(id(child))
        if text and text.strip():
            self.found.append(Text(kind, self.path, getattr(node, "lineno", 1), " ".join(text.split())))

    def visit_Module(self, node: ast.Module) -> None:
        self._documented(node, hidden=self._private_file())

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._documented(node, hidden=node.name.startswith("_") or self._private_file())

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._documented(node, hidden=node.name.startswith("_") or self._private_file())

    def _private_file(self) -> bool:
        parts = self.path.relative_to(SOURCE).parts
        # the engine's estimator classes are what every method inherits its public methods from
        return parts[0] in PRIVATE_ROOMS and parts[-1] not in {"embedding.py", "estimator.py"}

    def _documented(self, node: ast.Module | ast.ClassDef | ast.FunctionDef, *, hidden: bool) -> None:
        self.hidden += hidden
        doc = ast.get_docstring(node)
        if doc is not None:
            self.taken.add(id(node.body[0].value))  # type: ignore[attr-defined]
            if self.internal or not self.hidden:
                line = doc.strip().split("\n\n")[0]
                self.found.append(Text("docstring", self.path, node.body[0].lineno, " ".join(line.split())))
        self.generic_visit(node)
        self.hidden -= hidden

    def visit_Call(self, node: ast.Call) -> None:
        name = name_of(node.func)
        if name in TEXTS_OF:
            place = TEXTS_OF[name]
            given = (
                node.args[place]
                if isinstance(place, int) and len(node.args) > place
                else next((one.value for one in node.keywords if one.arg == place), None)
            )
            if given is not None:
                self.add("help" if name == "option" else name, given, text_of(given))
        elif (
            (name in SAYING or name.endswith(("Error", "Warning"))) and node.args and id(node.args[0]) not in self.taken
        ):
            self.add("message", node.args[0], text_of(node.args[0]))
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        if isinstance(node.exc, ast.Call) and node.exc.args:
            self.add("message", node.exc.args[0], text_of(node.exc.args[0]))
        self.generic_visit(node)

    def _loose(self, node: ast.expr) -> None:
        text = text_of(node)
        if text is not None and id(node) not in self.taken and is_message(text):
            self.add("message", node, text)

    def visit_Constant(self, node: ast.Constant) -> None:
        self._loose(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._loose(node)
        self.generic_visit(node)


def texts(*, internal: bool = False) -> Iterator[Text]:
    """Of all files, in their order."""
    for path in sorted(SOURCE.rglob("*.py")):
        reader = Reader(path, internal=internal)
        reader.visit(ast.parse(path.read_text(encoding="utf-8")))
        yield from sorted(reader.found, key=lambda text: text.line)


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--internal", action="store_true")
    options = parser.parse_args()
    chosen = [text for text in texts(internal=options.internal) if options.kind in (None, text.kind)]
    if options.count:
        for kind, count in Counter(text.kind for text in chosen).items():
            print(f"{kind:<10} {count}")
        return
    for text in chosen:
        print(f"{text.kind:<9} {text.path.relative_to(SOURCE)}:{text.line}  {text.words}")


if __name__ == "__main__":
    main()
