#!/usr/bin/env python3
"""Makes the C headers, the Markdown pages and the JSON files from the SystemRDL.

    python3 -m venv target/regs && target/regs/bin/pip install -r hw/regs/requirements.txt
    target/regs/bin/python hw/regs/generate.py            # renews hw/regs/generated
    target/regs/bin/python hw/regs/generate.py --check    # compares, exit status 1 on a difference
"""

import argparse
import difflib
import json
import sys
import tempfile
from pathlib import Path

from peakrdl_cheader.exporter import CHeaderExporter
from peakrdl_markdown import MarkdownExporter
from systemrdl import RDLCompileError, RDLCompiler
from systemrdl.node import RegNode
from systemrdl.rdltypes import AccessType, OnWriteType

HERE = Path(__file__).resolve().parent
GENERATED = HERE / "generated"
# How the struct of each header is meant.
USE = {
    "pci_ddc": "Offsets: offsetof(pci_ddc_t, STATUS). Access is by PCI configuration cycles only.",
    "rcube": "The layout of the 258 bytes; values of 16 bits have their high byte first.",
}
COMMAND = "python hw/regs/generate.py"


def access(field):
    """The kinds of access that software has, as the project names them."""
    sw, onwrite = field.get_property("sw"), field.get_property("onwrite")
    if onwrite == OnWriteType.woclr:
        return "w1c"
    if onwrite == OnWriteType.wuser:
        return "ack"
    return {AccessType.r: "ro", AccessType.rw: "rw", AccessType.w: "wo"}[sw]


def user_properties(node):
    """Those of the user-defined properties that say something (not false, not empty)."""
    names = sorted(node.list_properties(include_native=False))
    found = {name: node.get_property(name) for name in names}
    # `0 in (False,)` holds: a link or interval 0 says something.
    return {name: value for name, value in found.items() if value is not False and value != ""}


def field_data(field):
    """One field."""
    return {
        "name": field.inst_name,
        "low": field.low,
        "high": field.high,
        "access": access(field),
        "hw": field.get_property("hw").name,
        "reset": field.get_property("reset"),
        "description": " ".join(field.get_property("desc", default="").split()),
        "properties": user_properties(field),
    }


def register_data(register, top):
    """One register; properties of the register files around it are its own, too."""
    fields = [field_data(field) for field in register.fields()]
    properties = {}
    node = register
    while node is not None and node != top:
        properties = {**user_properties(node), **properties}
        node = node.parent
    return {
        "name": register.get_path_segments()[-1],
        "path": register.get_rel_path(top),
        "offset": register.absolute_address,
        "width": register.get_property("regwidth"),
        "reset": sum(field["reset"] << field["low"] for field in fields),
        "title": register.get_property("name"),
        "properties": properties,
        "fields": fields,
    }


def property_list(node):
    """The user-defined properties as a Markdown list, or nothing."""
    lines = [
        f"- {name}" if value is True else f"- {name}: {value}"
        for name, value in user_properties(node).items()
    ]
    return "\n".join(lines) + "\n" if lines else ""


class Pages(MarkdownExporter):
    """The exporter, with the user-defined properties below each description."""

    def _addrnode_header(self, node, msg, heading_level):
        header = super()._addrnode_header(node, msg, heading_level)
        properties = property_list(node)
        return header + (properties + "\n" if properties else "")

    def _add_field(self, node, msg):
        stage = super()._add_field(node, msg)
        properties = property_list(node)
        if properties:
            stage.generated += "\n" + properties
        return stage


def registers(node):
    """All registers, in order of their addresses."""
    found = [child for child in node.descendants(unroll=True) if isinstance(child, RegNode)]
    return sorted(found, key=lambda register: register.absolute_address)


def make(chip, folder):
    """Writes the three files of one chip into the folder."""
    compiler = RDLCompiler()
    compiler.compile_file(str(HERE / f"{chip}.rdl"), incl_search_paths=[str(HERE)])
    top = compiler.elaborate(top_def_name=chip).top
    note = f"Made by `{COMMAND}` from {chip}.rdl: do not edit."

    header = folder / f"{chip}.h"
    CHeaderExporter().export(top, path=str(header), reuse_typedefs=False)
    header.write_text(f"// {note}\n// {USE[chip]}\n" + header.read_text())

    page = folder / f"{chip}.md"
    Pages().export(top, str(page), rename=top.get_property("name"))
    text = "\n".join(line.rstrip() for line in page.read_text().splitlines())
    page.write_text(f"<!-- {note} -->\n\n" + text.strip() + "\n")

    data = {
        "made_by": note,
        "name": chip,
        "title": top.get_property("name"),
        "bytes": top.size,
        "properties": user_properties(top),
        "registers": [register_data(register, top) for register in registers(top)],
    }
    (folder / f"{chip}.json").write_text(json.dumps(data, indent=1) + "\n")


def compare(made, kept):
    """Prints what differs; false if anything does."""
    same = True
    for new in sorted(made.iterdir()):
        old = kept / new.name
        before = old.read_text().splitlines() if old.exists() else []
        after = new.read_text().splitlines()
        if before != after:
            same = False
            print("\n".join(difflib.unified_diff(before, after, str(old), "made now", lineterm="", n=1)))
    made_names = {file.name for file in made.iterdir()}
    for old in sorted(kept.iterdir()):
        if old.name not in made_names:
            same = False
            print(f"{old}: nothing makes this file")
    return same


def main():
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of renewing")
    arguments = parser.parse_args()
    if not arguments.check:
        GENERATED.mkdir(exist_ok=True)
        for chip in USE:
            make(chip, GENERATED)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for chip in USE:
            make(chip, Path(folder))
        if compare(Path(folder), GENERATED):
            return 0
    print(f"hw/regs/generated is out of date: {COMMAND}")
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RDLCompileError:
        sys.exit(1)  # the compiler has told where
