"""Speed, side by side with the named peer in one run: `make bench`, or `python -m benchmarks [name ...]`."""
