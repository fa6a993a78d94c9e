/** {@code sluice bench backfill}: the same jobs under each order of a queue. */
@NullMarked
package dev.sluice.lab.bench.backfill;

import org.jspecify.annotations.NullMarked;
