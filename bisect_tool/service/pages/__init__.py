"""The web pages of the service: what it is asked and what it answers, for people. They read the same functions as the API."""
