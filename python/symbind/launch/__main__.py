"""python -m symbind.launch"""
import sys

from .job import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
