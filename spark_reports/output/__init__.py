"""What a report is written as: tables for other programs, their columns explained, and where all of it goes."""
