"""``python -m wideberth`` is the command line too."""

from wideberth.cli import main

if __name__ == "__main__":
    main()
