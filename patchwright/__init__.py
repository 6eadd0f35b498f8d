"""Turn a request made where people already work into a proven pull request."""
