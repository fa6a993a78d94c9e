/**
 * Topology aware scheduling: which nodes have room for which pods (docs/topology.md). In come
 * topologies, nodes, what pods that are placed by others use, and the usage of Workloads; out come
 * placements: domains with numbers of pods, or a shortage in numbers. One tree of domains is kept
 * per flavor with a topology, as arrays. Only values of {@code core.model} enter; no quota and no
 * queue is known here.
 */
@NullMarked
package dev.sluice.core.topology;

import org.jspecify.annotations.NullMarked;
