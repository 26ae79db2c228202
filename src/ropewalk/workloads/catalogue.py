"""Every workload model and source by name: its usual parameters, and named sets of them where a paper suggests some."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ropewalk.workloads import trace_like
from ropewalk.workloads.adjacency import Adjacency
from ropewalk.workloads.contract import Model, Source
from ropewalk.workloads.edges import Edges
from ropewalk.workloads.grid import SETS, Grid
from ropewalk.workloads.hierarchical import HierarchicalTopics
from ropewalk.workloads.mediawiki_csv import MediaWikiCsv
from ropewalk.workloads.mediawiki_xml import MediaWikiXml
from ropewalk.workloads.multi_modal import MultiModal
from ropewalk.workloads.spatial import Spatial
from ropewalk.workloads.statuses import Statuses
from ropewalk.workloads.stock_quotes import StockQuotes
from ropewalk.workloads.trace_like import TraceLike


@dataclass(frozen=True, slots=True)
class Entry:
    """A model with its usual parameters, and the sets it can be told to start from instead."""

    usual: Model
    sets: Mapping[str, Model] = field(default_factory=dict)
    sets_are: str = ""  # completes "--set ...": what the names stand for


MODELS: dict[str, Entry] = {
    Grid.name: Entry(
        SETS["G"], SETS, "Fitted parameters: G (StAN Table 2), F (also Table 1), E (no torus), fig6 (StaN Figure 6)."
    ),
    MultiModal.name: Entry(MultiModal()),
    Spatial.name: Entry(Spatial()),
    HierarchicalTopics.name: Entry(HierarchicalTopics()),
    StockQuotes.name: Entry(StockQuotes()),
    TraceLike.name: Entry(
        trace_like.USUAL,
        trace_like.SETS,
        "As large as StaN's universes from LiveJournal (L0-L8) and Wikipedia (W0-W8).",
    ),
}

SOURCES: dict[str, Source] = {
    source.name: source for source in (Edges(), Adjacency(), MediaWikiXml(), MediaWikiCsv(), Statuses())
}
