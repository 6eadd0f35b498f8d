"""What Patchwright costs in time and memory, next to what it is built on."""
