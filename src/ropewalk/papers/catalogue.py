"""Every claim by its id, in the order of the papers. A new figure or table is one module and one line here."""

from ropewalk.errors import UsageError
from ropewalk.papers.contract import Claim
from ropewalk.papers.kato import bounds, completeness, figures_3_4, joins, preparation, twitter
from ropewalk.papers.kato import figure_2 as kato_figure_2
from ropewalk.papers.kato import figure_5 as kato_figure_5
from ropewalk.papers.kato import figure_6 as kato_figure_6
from ropewalk.papers.magnet import (
    adaptivity,
    figure_2,
    figure_3,
    figure_4,
    figure_5,
    figure_6,
    figure_7,
    figure_8,
    seats,
    wikipedia,
)
from ropewalk.papers.stan import (
    journal_adaptive_period,
    journal_connectivity,
    journal_correlation,
    journal_delivery,
    journal_figure_2,
    journal_figure_5,
    journal_figure_6,
    journal_figure_6_live,
    journal_figure_6_timed,
    journal_figure_7,
    journal_figure_8,
    journal_figure_9,
    journal_figures_3_4,
    journal_managed,
    journal_overhead,
    journal_repair,
    journal_scalability,
    journal_speedups,
    journal_supplement,
    journal_table_1,
    journal_walk_length,
    journal_weights,
    workshop_figure_1,
    workshop_figure_2,
    workshop_figure_3,
    workshop_growth,
    workshop_privacy,
    workshop_table_1,
    workshop_table_2,
    workshop_table_3,
)

CLAIMS: dict[str, Claim] = {
    claim.id: claim
    for claim in (
        workshop_figure_1.CLAIM,
        workshop_table_1.CLAIM,
        workshop_table_2.CLAIM,
        workshop_figure_2.CLAIM,
        workshop_figure_3.CLAIM,
        workshop_table_3.CLAIM,
        workshop_growth.CLAIM,
        workshop_privacy.DISCLOSURE,
        workshop_privacy.INDEPENDENCE,
        journal_table_1.CLAIM,
        journal_figure_2.CLAIM,
        journal_figures_3_4.CLAIM,
        journal_figure_5.CLAIM,
        journal_figure_6.CLAIM,
        journal_figure_6_timed.CLAIM,
        journal_figure_6_live.BY_ROUND,
        journal_figure_6_live.DISTRIBUTIONS,
        journal_figure_7.CLAIM,
        journal_figure_8.CLAIM,
        journal_figure_9.CLAIM,
        journal_connectivity.WEAK,
        journal_connectivity.STRONG_CLAIM,
        journal_managed.WEAK,
        journal_managed.STRONG,
        journal_repair.CLAIM,
        journal_correlation.CLAIM,
        journal_weights.CLAIM,
        journal_walk_length.CLAIM,
        journal_speedups.CLAIM,
        journal_adaptive_period.CLAIM,
        journal_overhead.CLAIM,
        journal_delivery.CLAIM,
        journal_scalability.CLAIM,
        journal_supplement.CLAIM,
        figure_2.CLAIM,
        figure_3.UNIFORM,
        figure_3.RATES,
        figure_4.EXPONENT,
        figure_4.SIZE,
        figure_5.CLAIM,
        figure_6.CLAIM,
        figure_7.CLAIM,
        figure_8.CORRELATION,
        figure_8.SIZE,
        wikipedia.CLAIM,
        adaptivity.NEVER_WORSE,
        adaptivity.SMALL_SAMPLES,
        adaptivity.ROUTING,
        adaptivity.DEGREE,
        seats.REJOIN,
        adaptivity.FIXED_DEGREE,
        seats.VIEWS,
        kato_figure_2.DEPTH,
        kato_figure_2.TABLE,
        figures_3_4.POSITIVES,
        figures_3_4.TABLES,
        kato_figure_5.TABLES_GROW,
        kato_figure_5.DEPTH_SHRINKS,
        bounds.CLAIM,
        joins.STEPS,
        joins.MESSAGES,
        completeness.CLAIM,
        kato_figure_6.CLAIM,
        twitter.SKEWED,
        twitter.FRIENDS,
        twitter.MESSAGES,
        preparation.CLAIM,
    )
}


def chosen(ids: tuple[str, ...]) -> list[Claim]:
    """The claims of these ids in the order of the catalogue; all of them if none is named."""
    for wanted in ids:
        if wanted not in CLAIMS:
            raise UsageError(f"claim {wanted!r} is not known; choose from: {', '.join(CLAIMS)}.")
    return [claim for claim in CLAIMS.values() if not ids or claim.id in ids]
