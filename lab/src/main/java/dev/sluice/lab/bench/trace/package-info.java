/** The jobs that benches without a cluster play: of a trace, or made up. */
@NullMarked
package dev.sluice.lab.bench.trace;

import org.jspecify.annotations.NullMarked;
