/** What is read of a Workload and kept, field by field. */
@NullMarked
package dev.sluice.workload.record;

import org.jspecify.annotations.NullMarked;
