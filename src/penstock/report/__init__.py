"""What a run looked like: kept as it goes, then shown as tables, a picture and a folder of files."""
