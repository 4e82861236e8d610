"""What costs time that could be had back: rules, evidence, and upper bounds that claim no time twice."""
