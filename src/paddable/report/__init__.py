"""The report: one self-contained HTML page about a conversion, a verification or a probe.

``page`` makes it of plain data (`paddable.api.reporting` collects that); the standard library alone, and nothing that a
browser would have to fetch: no script, no font, no picture.
"""

from paddable.report.page import embedded, is_page, page

__all__ = ["embedded", "is_page", "page"]
