/**
 * The documents of the visibility API: what it serves, and the pending Workloads of a queue. Input:
 * positions from the engine, cached Workloads. Output: JSON. No I/O, no decision about who may
 * read.
 */
@NullMarked
package dev.sluice.visibility.api;

import org.jspecify.annotations.NullMarked;
