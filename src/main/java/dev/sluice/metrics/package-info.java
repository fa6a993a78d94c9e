/**
 * What people and monitoring see of the operator: metrics, events, explanations. Published views,
 * Workload transitions and plain values may enter, and nothing that enters can slow a decision
 * down. Series to be scraped, events for the API server and texts for people leave.
 */
@NullMarked
package dev.sluice.metrics;

import org.jspecify.annotations.NullMarked;
