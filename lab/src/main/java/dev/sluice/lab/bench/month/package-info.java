/**
 * A month of a large cluster in simulated time: made-up jobs and declarations, the engine as it is,
 * and an API server and pods that are played. Input: size and seed. Output: figures, and plots as
 * SVG. No cluster and no clock: the same seed leads to the same decisions.
 */
@NullMarked
package dev.sluice.lab.bench.month;

import org.jspecify.annotations.NullMarked;
