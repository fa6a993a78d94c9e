/** Tests of Workflows of Argo. */
@NullMarked
package dev.sluice.jobs.kinds.argo;

import org.jspecify.annotations.NullMarked;
