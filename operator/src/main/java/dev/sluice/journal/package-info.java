/**
 * The journal: every event that the engine applied and every decision, on disk in their order, and
 * back (docs/journal.md).
 */
@NullMarked
package dev.sluice.journal;

import org.jspecify.annotations.NullMarked;
