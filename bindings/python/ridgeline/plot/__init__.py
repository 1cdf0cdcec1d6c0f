"""Pictures of runs, traces and sweeps, drawn by matplotlib.

Each function takes results and, if wanted, the Axes to draw into; it returns the Axes, so that whoever called it changes what they like::

    import ridgeline as rl
    run = rl.run("chat_8b")
    rl.plot.roofline(run).figure.savefig("roofline.png")

matplotlib is loaded when something is drawn (``pip install ridgeline[plots]``). Colours are Okabe and Ito's, which colour-blind readers can
tell apart; backgrounds are white, for print. The program draws the same: ``ridgeline plot --help``.
"""

from .curves import curve
from .heat_maps import heat_map
from .latencies import latencies, latency
from .ledgers import ledger, ledger_change
from .paretos import pareto
from .rooflines import roofline
from .timelines import timeline
from .tornados import tornado

__all__ = ["curve", "heat_map", "latencies", "latency", "ledger", "ledger_change", "pareto", "roofline", "timeline", "tornado"]
