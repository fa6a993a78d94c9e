/**
 * The command {@code explain}: why a Workload is pending. Input: the name of a Workload. Output:
 * lines of text, from the running operator if it can be reached, otherwise from the objects of the
 * API server.
 */
@NullMarked
package dev.sluice.visibility.explain;

import org.jspecify.annotations.NullMarked;
