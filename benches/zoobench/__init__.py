"""Random problems, realistic and nasty, for `zoo.py`."""
