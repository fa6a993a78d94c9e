/** Jobs of batch/v1, from their JSON to the patches that start and stop them. */
@NullMarked
package dev.sluice.jobs.kinds.batch;

import org.jspecify.annotations.NullMarked;
