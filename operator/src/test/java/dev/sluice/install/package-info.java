/**
 * Holds the shipped manifests and the chart to the code that they come from, and to a real API
 * server. The repository's directories {@code crds}, {@code deploy} and {@code helm} enter.
 */
@NullMarked
package dev.sluice.install;

import org.jspecify.annotations.NullMarked;
