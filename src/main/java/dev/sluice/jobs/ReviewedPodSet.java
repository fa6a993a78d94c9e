package dev.sluice.jobs;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A pod set of a job under review.
 *
 * @param path path of its template in the object, as the API server writes paths
 * @param count how many pods
 * @param template its pod template
 */
public record ReviewedPodSet(String path, int count, JsonNode template) {}
