"""The service: asks and answers over HTTP, a queue of questions, workers, and what it tells others."""
