"""Write the generated pages: ``python docs/generate.py`` (``make docs``)."""

from __future__ import annotations

import sys

from pages import DOCS, pages, stale


def main() -> None:
    """Write every page that differs, and remove those that nothing writes any more."""
    changed = 0
    for name, text in pages().items():
        page = DOCS / name
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.parent.mkdir(exist_ok=True)
            page.write_text(text, encoding="utf-8")
            changed += 1
    for page in stale():
        page.unlink()
        changed += 1
    sys.stdout.write(f"{changed} of {len(pages())} pages changed\n")


if __name__ == "__main__":
    main()
