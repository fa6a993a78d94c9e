/** Decisions are carried out on the version that they were made for. */
@NullMarked
package dev.sluice.workload.writing;

import org.jspecify.annotations.NullMarked;
