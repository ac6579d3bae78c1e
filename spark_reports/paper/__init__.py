"""The report on paper: each plot as a picture, and everything as one PDF. Drawn by Matplotlib, without a browser."""
