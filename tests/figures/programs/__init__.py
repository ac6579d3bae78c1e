"""Programs that read and write down themselves what they polled and committed, to hold the account to.

Each is a process with a client library of its own. It does what comes by its standard input, a JSON array a line, and
answers each with the messages that reached it meanwhile. Its log has a line for each message and each commit, written
at once: a kill loses none.
"""
