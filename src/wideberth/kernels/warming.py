"""The old name of `wideberth.kernels.cache`, for scripts that compile kernels ahead."""

import sys

from wideberth.kernels.cache import main

if __name__ == "__main__":
    main(sys.argv[1:])
