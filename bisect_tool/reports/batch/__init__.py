"""What a batch of specs comes to: one line for each spec, a page, a JUnit file, and what is said while it runs."""
