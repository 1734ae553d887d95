"""Make the library that the report draws with: one script of regl-scatterplot and its helpers, and their licences.

python tools/bundle/make.py           make it in a temporary folder; say whether it is what the package holds
python tools/bundle/make.py --write   put it into the package as well

It needs npm and Node 18 or newer. Users and tests do not: what it makes is kept in the package.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
KEPT = HERE.parents[1] / "src" / "gramfold" / "report" / "page" / "vendor"
SCRIPT, LICENSES = "regl-scatterplot.js", "LICENSES.txt"

#: regl checks every call in its main file; this is the file it offers for pages that are finished.
DRAWING = "./node_modules/regl/dist/regl.unchecked.js"

#: Packages that others have copied into their files: where they went.
COPIED = {
    "kdbush": "in regl-scatterplot",
    "simplify-js": "in regl-scatterplot",
    "camera-2d-simple": "in dom-2d-camera",
}
#: The same for what is no package: its notice stands in copied/.
SNIPPETS = {"line-shader": "in regl-line", "pnpoly": "in @flekschas/utils"}

#: An address in a message would be the only one on the page: words without it.
ADDRESSES = {" http://get.webgl.org": ""}

FAMILIES = {
    "Permission is hereby granted, free of charge": "MIT License",
    "Permission to use, copy, modify, and/or distribute": "ISC License",
    "Redistribution and use in source and binary forms": "BSD 2-Clause License",
}


def main():
    """Make, compare, and write where that was asked."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            sys.exit(f"'{program}' was not found: install Node 18 or newer, which brings npm.")
    with tempfile.TemporaryDirectory() as folder:
        made = make(Path(folder))
    different = [name for name, text in made.items() if read(KEPT / name) != text]
    for name, text in made.items():
        state = "differs" if name in different else "is the same, byte for byte"
        print(f"{name}: {len(text):,} bytes, SHA-256 {sha256(text).hexdigest()[:16]}: {state}")
    if different and "--write" not in sys.argv[1:]:
        sys.exit("The package holds something else: `make bundle WRITE=1` replaces it.")
    for name in different:
        KEPT.mkdir(parents=True, exist_ok=True)
        (KEPT / name).write_bytes(made[name])
        print(f"{name} was replaced")


def make(folder):
    """Return both files as bytes, from packages that are fetched into a folder."""
    shutil.copy(HERE / "package.json", folder)
    shutil.copy(HERE / "entry.js", folder)
    quiet = ["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(["npm", "install", *quiet], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    check_versions(folder)
    options = ["--bundle", "--minify", "--format=iife", "--target=es2022", "--legal-comments=none", "--log-level=error"]
    options += ["--loader:.fs=js", "--loader:.vs=js", f"--alias:regl={DRAWING}"]
    options += ["--outfile=out.js", "--metafile=inside.json"]
    subprocess.run(["node", "node_modules/esbuild/bin/esbuild", "entry.js", *options], cwd=folder, check=True)
    licenses = write_licenses(folder)
    script = (folder / "out.js").read_text(encoding="utf-8")
    for address, words in ADDRESSES.items():
        script = script.replace(address, words)
    script = f"/*\n{licenses}*/\n{script}"
    for unwanted in (r"https?://", r"sourceMappingURL", r"</script", r"<!--", r"[^\x00-\x7f]"):
        found = re.search(unwanted, script)
        if found:
            sys.exit(
                f"The script holds {found.group()!r}, which may not stand in a page: look at tools/bundle/make.py."
            )
    return {SCRIPT: script.encode("ascii"), LICENSES: licenses.encode("utf-8")}


def check_versions(folder):
    """Stop unless exactly the packages of package.json are there, nested ones too."""
    asked = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    wanted = asked["dependencies"] | asked["devDependencies"]
    found = {}
    for path in folder.glob("node_modules/**/package.json"):
        name = re.fullmatch(r"(?:.*/)?node_modules/((?:@[^/]+/)?[^/]+)/package\.json", path.as_posix())
        if name and not name.group(1).startswith(
            "@esbuild/"
        ):  # esbuild's program, of the same version by its own check
            found.setdefault(name.group(1), set()).add(package(path.parent)["version"])
    if found != {name: {version} for name, version in wanted.items()}:
        sys.exit(f"npm installed {found}, but package.json says {wanted}: pin what differs there.")


def write_licenses(folder):
    """Return the notices of everything that is inside, each licence's text once."""
    inside = json.loads((folder / "inside.json").read_text(encoding="utf-8"))["outputs"]["out.js"]["inputs"]
    names = {
        re.search(r"node_modules/((?:@[^/]+/)?[^/]+)/", path).group(1) for path in inside if "node_modules" in path
    }
    parts = []
    for name in sorted(names | COPIED.keys()):
        home = folder / "node_modules" / name
        about = package(home)
        where = f" ({COPIED[name]})" if name in COPIED else ""
        text = next(home.glob("LICENSE*")).read_text(encoding="utf-8")
        parts.append((f"{name} {about['version']}{where}", text, about.get("author", "")))
    for name, where in SNIPPETS.items():
        parts.append((f"{name} ({where})", (HERE / "copied" / f"{name}.txt").read_text(encoding="utf-8"), ""))
    texts = {}
    for title, text, author in parts:
        family, terms = next((FAMILIES[start], text[text.index(start) :]) for start in FAMILIES if start in text)
        owners = re.findall(r"^Copyright.*$", text, flags=re.MULTILINE) or [f"Copyright {author}"]
        if "The name of W. Randolph Franklin" in terms:
            family += " with three conditions"
        key = re.sub(r"\W+", " ", terms).strip()
        texts.setdefault(key, (family, terms.strip(), []))[2].append(f"{title}: {'; '.join(owners)}")
    groups = sorted(texts.values(), key=lambda group: -len(group[2]))
    return "What this script is made of, and under which licences.\n" + "".join(
        f"\n{family}\n{'-' * len(family)}\n" + "\n".join(lines) + f"\n\n{terms}\n" for family, terms, lines in groups
    )


def package(home):
    """Return what a package says of itself."""
    return json.loads((home / "package.json").read_text(encoding="utf-8"))


def read(path):
    """Return a file's bytes, or None where there is no such file."""
    return path.read_bytes() if path.exists() else None


if __name__ == "__main__":
    main()
