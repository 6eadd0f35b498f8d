# Keep those entries of a lock file that building our own wheel takes.
/^[^ ]/ { kept = /^(hatchling|packaging|pathspec|pluggy|tomlkit|trove-classifiers)==/ }
kept
