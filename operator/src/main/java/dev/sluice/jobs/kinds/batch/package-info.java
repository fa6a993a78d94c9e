/**
 * The kind Job of batch/v1, as the framework's first adapter. Objects of the API may enter. Views
 * and patches of Jobs leave.
 */
@NullMarked
package dev.sluice.jobs.kinds.batch;

import org.jspecify.annotations.NullMarked;
