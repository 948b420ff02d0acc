"""What bench/compare is made of: Millrace and its peers, in turns on the same cores."""
