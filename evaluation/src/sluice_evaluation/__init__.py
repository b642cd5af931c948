"""Plans experiments, keeps run records, and reports them with intervals."""
