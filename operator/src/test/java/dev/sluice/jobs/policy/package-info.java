/**
 * Decisions about jobs and their Workloads, told as stories: given how they stand, then what is
 * done.
 */
@NullMarked
package dev.sluice.jobs.policy;

import org.jspecify.annotations.NullMarked;
