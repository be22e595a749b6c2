"""One plain form for every exporter's graph: operators spelled one way, fused ones replaced by their definition."""
