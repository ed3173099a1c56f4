"""The HTTP API of the agent."""
