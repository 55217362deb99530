"""Reports of runs: recorded as they go, then shown as tables, a picture and a folder of files."""
