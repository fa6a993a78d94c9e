/** Changes of a Workload's status, as patches. */
@NullMarked
package dev.sluice.workload.status;

import org.jspecify.annotations.NullMarked;
