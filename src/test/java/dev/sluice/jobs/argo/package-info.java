/** Tests of Workflows of Argo. */
@NullMarked
package dev.sluice.jobs.argo;

import org.jspecify.annotations.NullMarked;
