/**
 * Connections to worker clusters: one client per cluster, a watch of the objects that were sent
 * there, and reconnection after failures. Input: credentials. Output: the state of each connection
 * and the watched objects. Failures of one cluster do not affect another.
 */
@NullMarked
package dev.sluice.checks.multikueue.remote;

import org.jspecify.annotations.NullMarked;
