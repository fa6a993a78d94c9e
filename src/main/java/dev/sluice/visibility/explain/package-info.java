/**
 * The command {@code explain}: why a Workload waits. The name of a Workload may enter. Lines for
 * people leave, from the operator's live knowledge where it can be asked, else from the objects.
 */
@NullMarked
package dev.sluice.visibility.explain;

import org.jspecify.annotations.NullMarked;
