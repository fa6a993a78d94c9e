/**
 * The life cycle of Workloads, besides their admission: deactivation, stopped queues, return into
 * the queue, gates, time limits, lost owners. Records of the reader, the states of queues and the
 * time may enter. Patches of single Workloads and events about them leave, and only from the
 * leader.
 */
@NullMarked
package dev.sluice.workload.lifecycle;

import org.jspecify.annotations.NullMarked;
