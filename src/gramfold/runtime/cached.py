"""`functools.cached_property` as it is from Python 3.12 on: without a lock.

That of Python 3.11 has one lock for all objects of a class. Where the value takes a pass over a table, fits in two
threads would wait for each other; where these are tasks of one worker, for ever.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:  # noqa: N801  the name of what it stands for
        """See the module."""

        def __init__(self, work):
            self.work, self.__doc__ = work, work.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            found = vars(instance)[self.name] = self.work(instance)
            return found


__all__ = ["cached_property"]
