"""Confidence intervals of coefficients that were learned under privacy, as a table."""

import starling

run = starling.infer(source="synthetic:linear:n=2000", clients=4, topology="complete", mechanism="gaussian", mu=1,
                     seed=1, progress="off")
table = run.table("coefficients")
print(table.to_string(index=False) if hasattr(table, "to_string") else table)
# prints: estimate
