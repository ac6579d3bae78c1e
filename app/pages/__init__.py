"""A session as one HTML file that is scrubbed in a browser: its data, its template, and the file."""
