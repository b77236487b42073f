"""The health of a network in training: never-active units, gradients, divergence."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

from experiments.training.config import Config
from skyenv.console.tables import WIDTH

# Figures of a curve's points, by layer: ``never_active/trunk``.
NEVER_ACTIVE: Final = "never_active"
# Of all layers, the mean of the minibatches before clipping; by layer, the last one's as clipped.
GRADIENT_NORM: Final = "gradient_norm"
# Units are counted in updates with so many decisions; in fewer, rarely active ones look dead.
FEWEST_DECISIONS: Final = 2500
# A larger share of a layer's units is worth a warning.
MOST_NEVER_ACTIVE: Final = 0.25
# Beyond these a training has diverged. Values are about 1, or with the reward "points" about 100.
LARGEST_VALUE_LOSS: Final = {"points": 1e6}
LARGEST_FIGURE: Final = 100.0


def divergence(point: Mapping[str, Any], config: Config) -> str:
    """Return how a curve's point shows that the training has diverged: by its value loss, its KL
    divergence (nats), or a number that isn't finite; "" if it does not.
    """
    bounds = {
        "value_loss": LARGEST_VALUE_LOSS.get(config.reward, LARGEST_FIGURE),
        "change": max(config.target_kl, LARGEST_FIGURE),
    }
    return "; ".join(
        f"{name} is {number:.3g}, not below {bounds.get(name, math.inf):g}"
        for name, number in point.items()
        if isinstance(number, float) and not number < bounds.get(name, math.inf)  # NaN, too
    )


def warnings(curve: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the warnings of a curve's last point: layers that have too many never-active units,
    unless an earlier point has shown it.
    """
    *earlier, last = curve
    return [
        f"warning: {100 * share:.0f} % of the units of {name.partition('/')[2]} are never active; "
        "a smaller --learning-rate loses fewer"
        for name, share in last.items()
        if name.startswith(NEVER_ACTIVE)
        and share > MOST_NEVER_ACTIVE
        and all(point.get(name, 0.0) <= MOST_NEVER_ACTIVE for point in earlier)
    ]


def report(curve: Sequence[Mapping[str, Any]]) -> str:
    """Return a paragraph on the units and gradients of each layer, and its warnings, of the last
    point that counts units; "" if there is none.
    """
    point = next((one for one in reversed(curve) if f"{NEVER_ACTIVE}/trunk" in one), None)
    if point is None:
        return ""
    layers = {name: name.partition("/")[2] or "all" for name in point}
    units, norms = (
        ", ".join(
            f"{layers[name]} {point[name]:{form}}" for name in layers if name.startswith(kind)
        )
        for kind, form in ((NEVER_ACTIVE, ".0%"), (GRADIENT_NORM, ".2g"))
    )
    lines = (
        f"Units that are never active, in update {point['update']}: {units}.",
        f"Norms of its gradients: {norms}.",
        *warnings([point]),
    )
    return "\n".join(textwrap.fill(line, WIDTH) for line in lines)
