"""The files of a report: tables for other programs, the description of their columns, and where everything goes."""
