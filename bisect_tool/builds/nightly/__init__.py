"""What the channel `nightly` is made of: the tables, the pages, the requests, the search for hidden builds."""
