"""A Linear that programs reach over HTTP: GraphQL, OAuth, webhooks and pages."""
