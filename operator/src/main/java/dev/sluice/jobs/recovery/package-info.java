/**
 * Pods that can't end because the kubelet of their node doesn't answer: such a pod is set to Failed
 * and deleted at once, if it allows that; one that has ended is only deleted. Versions of pods and
 * nodes may enter. Patches of the status of pods, deletions and events leave.
 */
@NullMarked
package dev.sluice.jobs.recovery;

import org.jspecify.annotations.NullMarked;
