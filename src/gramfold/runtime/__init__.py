"""Threads, progress, memory forecast and the compile cache."""
