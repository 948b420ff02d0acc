"""All tables of docs/evidence/papers, and in which blocks the entries of published.json stand."""
import calibration
import chapter3
import chapter4
import chapter5
import minakova
import tiles
import variants
from beside import published, results_of

TABLES = [table for module in (minakova, chapter3, calibration, chapter4, chapter5, variants, tiles) for table in module.TABLES]

SHOWN_IN = {
    "jetson_tx2_throughput": ["table_3_2"], "jetson_tx2_throughput_2020": ["table_2_of_2020"],
    "jetson_xavier_networks": ["table_3_3"], "jetson_xavier_options": ["table_3_5", "table_3_4"], "jedi_readme": ["jedi_readme"], "jetson_xavier_gains": ["figure_3_9"],
    "jetson_xavier_initial": ["table_3_6"], "jetson_xavier_search": ["table_3_7"], "jetson_xavier_sizes": ["table_3_8"],
    "jetson_xavier_latency": ["table_3_10"], "jetson_xavier_int8": ["calibration", "table_3_10"],
    "multi_application_pareto": ["table_4_4"], "multi_application_given": ["table_4_5"], "xavier_frequencies_mhz": ["table_4_7"],
    "multi_application_max_fps": ["table_4_8"], "multi_application_decision": ["table_4_9a", "table_4_9b"],
    "multi_application_constraints": ["table_4_10"], "multi_application_energy_saving_percent": ["figure_4_9"],
    "multi_application_fitness_seconds": ["table_4_11"], "model_based": ["section_5_5_1", "table_5_3", "table_5_4", "figures_5_6"],
    "variants_schedulability": ["variant_findings"], "workload_code_footprint_kb": ["table_2_of_tiles"],
    "workload_overhead_percent_below": ["figure_4_of_tiles"]}


NOT_COMPUTED, SOME_NOT_COMPUTED = "This table has not been computed.", "Not computed yet"


def named(name):
    return next(table for table in TABLES if table.name == name)


def rendered(table):
    """Its block; a table that was never computed, or not all of it, says so."""
    printed = published()
    source = named(table.source) if table.source else table
    rows = results_of(source)
    missing = [key for key in (source.keys(printed) if source.keys else []) if key not in rows]
    if not missing:
        return table.render(printed, rows)
    if not table.can_lack_rows or not rows:
        return NOT_COMPUTED
    return f"{SOME_NOT_COMPUTED}: {', '.join(missing)}.\n\n{table.render(printed, rows)}"


def is_incomplete(table):
    return any(words in rendered(table) for words in (NOT_COMPUTED, SOME_NOT_COMPUTED))
