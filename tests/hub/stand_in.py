"""A stand-in of the hubs' HTTP interfaces on 127.0.0.1, as far as their clients ask for it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "someone/recogniser"


class Hub:
    """What it holds and what was asked of it.

    Attributes:
        files: by path.
        asked: method, path and ``Range`` of each request.
        cut: paths whose body ends after so many bytes, once.
        refused: a status, and Hugging Face's code for it, for every request.
        endpoint: its address.
    """

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files, self.asked = files, list[tuple[str, str, str | None]]()
        self.cut: dict[str, int] = {}
        self.refused: tuple[int, str] | None = None
        self.endpoint = ""

    def fetched(self) -> set[str]:
        """Files whose content was asked for."""
        marks = (f"/resolve/{COMMIT}/", "FilePath=")
        return {
            unquote(path.rpartition(mark)[2])
            for method, path, _ in self.asked
            for mark in marks
            if method == "GET" and mark in path
        }


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[Hub]:
    """The hub, until it is left."""
    hub = Hub(files)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *words: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            hub.asked.append((self.command, self.path, self.headers.get("Range")))
            place, asked = urlsplit(self.path), parse_qs(urlsplit(self.path).query)
            if hub.refused is not None:
                page = b"<html>log in</html>" if hub.refused[0] == 200 else b"{}"  # as a company's proxy answers
                self.answer(hub.refused[0], page, {"X-Error-Code": hub.refused[1]})
            elif place.path.startswith("/api/v1/models/"):
                self.modelscope(place.path, asked)
            else:
                self.hugging_face(unquote(place.path))

        def hugging_face(self, path: str) -> None:
            api, own = f"/api/models/{REPOSITORY}", f"/{REPOSITORY}/resolve/"
            if path.startswith(f"{api}/revision/") or path == api:
                known = path == api or path.rpartition("/")[2] in ("main", "v1", COMMIT)
                data = {"id": REPOSITORY, "sha": COMMIT, "siblings": [{"rfilename": name} for name in hub.files]}
                self.answer(200, data) if known else self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            elif path.startswith(f"{api}/tree/"):
                sizes = {name: len(data) for name, data in hub.files.items()}
                self.answer(200, [{"type": "file", "path": name, "size": sizes[name], "oid": name} for name in sizes])
            elif path.startswith(own) and (name := path.removeprefix(own).partition("/")[2]) in hub.files:
                tag = hashlib.sha256(hub.files[name]).hexdigest()
                self.content(name, {"X-Repo-Commit": COMMIT, "ETag": f'"{tag}"'})
            else:
                self.answer(404, b"{}", {"X-Error-Code": "EntryNotFound" if own in path else "RepoNotFound"})

        def modelscope(self, path: str, asked: dict[str, list[str]]) -> None:
            rest = path.removeprefix(f"/api/v1/models/{REPOSITORY}")
            names = asked.get("FilePath", [""])
            if rest == "/repo/files":
                rows = [
                    {"Path": name, "Size": len(data), "Type": "blob", "Sha256": hashlib.sha256(data).hexdigest()}
                    for name, data in hub.files.items()
                ]
                self.answer(200, {"Code": 200, "Success": True, "Data": {"Files": rows}})
            elif rest == "/repo" and names[0] in hub.files:
                self.content(names[0], {})
            elif rest in ("", "/"):
                self.answer(200, {"Code": 200, "Success": True, "Data": {"Name": REPOSITORY}})
            else:
                self.answer(404, {"Code": 10010205001, "Success": False, "Message": "not found"})

        def content(self, name: str, headers: dict[str, str]) -> None:
            data, begin = hub.files[name], 0
            if (span := self.headers.get("Range")) is not None:
                first, _, last = span.removeprefix("bytes=").partition("-")
                begin, end = int(first), int(last or len(data) - 1)
                headers["Content-Range"] = f"bytes {begin}-{end}/{len(data)}"
                data = data[begin : end + 1]
            cut = hub.cut.pop(name, None) if self.command == "GET" else None
            self.answer(206 if span else 200, data, {"Accept-Ranges": "bytes", **headers}, cut)

        def answer(self, code: int, body: Any, headers: dict[str, str] | None = None, cut: int | None = None) -> None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(code)
            for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data[:cut])
            if cut is not None:
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
