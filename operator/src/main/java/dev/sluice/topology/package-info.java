/**
 * Topology aware scheduling outside of the engine. Nodes and pods of the cluster enter, and leave
 * as events for the engine; assignments of admitted Workloads enter, and leave as node selectors of
 * their pods.
 */
@NullMarked
package dev.sluice.topology;

import org.jspecify.annotations.NullMarked;
