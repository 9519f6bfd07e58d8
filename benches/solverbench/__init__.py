"""Parts of the solver benchmarks: data sets, the timed executable, peers, the report."""
