/**
 * StatefulSets in queues: one Workload for all pods of a set, which start together and are held
 * back one by one by their gates. StatefulSets, their pods, and Workloads may enter. Workloads
 * leave, and the labels by which {@code jobs.pods} takes the pods for a group of that Workload.
 */
@NullMarked
package dev.sluice.jobs.kinds.statefulset;

import org.jspecify.annotations.NullMarked;
