/** Judges expected starts on traces (docs/expected-starts.md#how-good-they-are). */
@NullMarked
package dev.sluice.lab.bench.estimates;

import org.jspecify.annotations.NullMarked;
