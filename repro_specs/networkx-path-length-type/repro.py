"""Distances to a node of a path: an iterator of pairs (node, distance) was promised. The spec may make warnings errors."""

import sys

import networkx as nx


def main(case: str) -> None:
    graph = nx.path_graph(4)
    if case == "source":
        assert nx.single_source_shortest_path_length(graph, 3) == {3: 0, 2: 1, 1: 2, 0: 3}
        return
    found = nx.single_target_shortest_path_length(graph, 3)
    if isinstance(found, dict):
        sys.exit(f"wrong type: {type(found).__name__}, expected an iterator of pairs")
    distances = sorted(found)
    print(f"networkx {nx.__version__}: {type(found).__name__} of {distances}")
    if distances != [(0, 3), (1, 2), (2, 1), (3, 0)]:
        sys.exit(f"wrong distances: {distances}")


if __name__ == "__main__":
    main(sys.argv[1])
