/**
 * Tests of pods as jobs. Pods in the words of tests may enter; what is decided for them is looked
 * at. Nothing leaves.
 */
@NullMarked
package dev.sluice.jobs.kinds.pod;

import org.jspecify.annotations.NullMarked;
