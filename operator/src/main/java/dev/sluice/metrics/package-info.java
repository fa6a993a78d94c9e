/**
 * Metrics and events of the operator. Input: published views, Workload transitions and plain
 * values; recording never delays a scheduling decision. Output: series to be scraped, and events
 * for the API server.
 */
@NullMarked
package dev.sluice.metrics;

import org.jspecify.annotations.NullMarked;
