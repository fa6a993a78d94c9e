/** Jobs and their Workloads, told as stories: given how they stand, then what is done. */
@NullMarked
package dev.sluice.checks;

import org.jspecify.annotations.NullMarked;
