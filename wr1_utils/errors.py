"""The common ancestor of the errors that are meant for a person to read."""


class WR1Error(Exception):
    """Something a person can put right; the message is one sentence: what was wrong, where, what would be right.

    The command line prints the sentence alone; any other exception is a fault of the kit and keeps its traceback.
    """
