/**
 * Stops what a manager sent to this cluster when the manager is not heard of any more, so that it
 * may be started elsewhere. The manager's Lease and the Workloads that name a fence may enter. Only
 * the switching off of such Workloads leaves; the rule is written down in docs/multikueue.md.
 */
@NullMarked
package dev.sluice.checks.multikueue.fencing;

import org.jspecify.annotations.NullMarked;
