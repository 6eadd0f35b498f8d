"""Every text that people read is made in this folder, from facts."""
