/**
 * The list of all kinds of jobs; each kind has a package below. To add a kind, see the page "Adding
 * a kind of job".
 */
@NullMarked
package dev.sluice.jobs.kinds;

import org.jspecify.annotations.NullMarked;
