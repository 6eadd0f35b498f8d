"""A Jira that programs reach over HTTP, in the cloud or in a data center."""
