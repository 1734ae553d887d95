"""Graph or X -> Kernel: functions, centring, penalties, reconstruction weights."""
