"""Many runs of one scenario: sweeps, sensitivities and capacity. `ridgeline.sweep` and its neighbours are the way in.

Nothing is imported here: pandas, SciPy and Dask are slow to load, and a worker needs none of them.
"""
