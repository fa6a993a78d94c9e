/**
 * Pods as jobs: single ones, and groups of them that share a Workload. Pods and the framework's
 * records may enter. Views of pods, their names by group, and what is to be done with them leave.
 */
@NullMarked
package dev.sluice.jobs.kinds.pod;

import org.jspecify.annotations.NullMarked;
