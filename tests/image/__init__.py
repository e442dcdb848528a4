"""The image built by hand: the steps of the `Dockerfile`, carried out in a clean root, and what is then tried in it."""
