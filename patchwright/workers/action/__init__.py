"""The GitHub Action: one run of the service's code, in a job of a workflow."""
