/** Tests of LeaderWorkerSets, from their YAML and on a control plane. */
@NullMarked
package dev.sluice.jobs.kinds.leaderworkerset;

import org.jspecify.annotations.NullMarked;
