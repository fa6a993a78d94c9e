/** Jobs and their Workloads, told as stories: what is given, for the tests of all rooms below. */
@NullMarked
package dev.sluice.jobs;

import org.jspecify.annotations.NullMarked;
