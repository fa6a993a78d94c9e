/**
 * One cycle's decisions: which flavor, in which order, who fits. Heads and the quota tree may
 * enter. Assignments with their explanations leave.
 */
@NullMarked
package dev.sluice.core.scheduling;

import org.jspecify.annotations.NullMarked;
