/** Tests of JobSets, from their YAML and on a control plane. */
@NullMarked
package dev.sluice.jobs.kinds.jobset;

import org.jspecify.annotations.NullMarked;
