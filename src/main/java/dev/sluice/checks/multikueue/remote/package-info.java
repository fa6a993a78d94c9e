/**
 * The connections to worker clusters: one client each, a watch of what was sent there, and the
 * tries to come back when it breaks. Credentials may enter. The state of each connection leaves,
 * and what the watch saw; the failures of one cluster touch no other.
 */
@NullMarked
package dev.sluice.checks.multikueue.remote;

import org.jspecify.annotations.NullMarked;
