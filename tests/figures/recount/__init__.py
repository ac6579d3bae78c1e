"""A session, counted again from its recorded events by code that shares nothing with the program's.

Plain loops over plain rows, message by message, with no thought of speed: what is shown is held to what comes out here.
"""
