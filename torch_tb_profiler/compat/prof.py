"""``python -m torch_tb_profiler.compat.prof -w 150 net.dict``, or ``< net.dict``: ``pyprof.prof``, which is ``pyprof``."""

import sys

from torch_tb_profiler.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["pyprof", *sys.argv[1:]]))
