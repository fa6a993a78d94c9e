/**
 * Leader election over a Lease. A lease store and a clock enter; the answer to "does this process
 * lead now" leaves.
 */
@NullMarked
package dev.sluice.kube.leader;

import org.jspecify.annotations.NullMarked;
