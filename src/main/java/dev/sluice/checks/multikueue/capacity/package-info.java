/**
 * What room the workers' queues have, for the dispatcher that looks at it. Connections may enter,
 * by which the queues of workers are watched. The names of the workers leave in which a Workload
 * would fit at once.
 */
@NullMarked
package dev.sluice.checks.multikueue.capacity;

import org.jspecify.annotations.NullMarked;
