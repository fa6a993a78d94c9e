/**
 * Traces of clusters in public formats (docs/expected-starts.md#traces): texts enter, jobs leave.
 */
@NullMarked
package dev.sluice.forecast.trace;

import org.jspecify.annotations.NullMarked;
