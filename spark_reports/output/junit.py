from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from spark_reports.request.assertions import AssertionVerdict

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(name: str, problems: Sequence[str], verdicts: Sequence[AssertionVerdict]) -> bytes:
    """The assertions as a file for CI systems. `name` is the session's; `problems` say why it is not whole."""
    failures = [verdict for verdict in verdicts if not verdict.holds]
    counts = {"tests": str(len(verdicts) + 1), "failures": str(len(failures)), "errors": "1" if problems else "0"}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": _plain(name), **counts})
    whole = ET.SubElement(suite, "testcase", {"classname": _plain(name), "name": "the recording is complete"})
    if problems:
        ET.SubElement(whole, "error", {"message": _plain(problems[0])}).text = _plain("\n".join(problems))
    for verdict in verdicts:
        case = ET.SubElement(suite, "testcase", {"classname": _plain(name), "name": _plain(verdict.assertion)})
        if verdict.holds:
            ET.SubElement(case, "system-out").text = _plain(verdict.found)
        else:
            ET.SubElement(case, "failure", {"message": _plain(verdict.found)}).text = _plain(verdict.found)
    ET.indent(suites)
    return ET.tostring(suites, encoding="utf-8", xml_declaration=True)


def _plain(text: str) -> str:
    return _NO_XML.sub("?", text)
