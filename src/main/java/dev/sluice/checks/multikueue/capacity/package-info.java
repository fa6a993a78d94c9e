/**
 * What room the workers' queues have, and what quota. Connections may enter, by which the queues of
 * workers are watched. The names of the workers leave in which a Workload would fit at once, and
 * amounts of guaranteed quota.
 */
@NullMarked
package dev.sluice.checks.multikueue.capacity;

import org.jspecify.annotations.NullMarked;
