/**
 * Admission and conversion webhooks as functions from review to response, and the webhook
 * configurations. Input: JSON, and facts about the cluster through {@link
 * dev.sluice.webhooks.rules.ClusterLookup}; no sockets or clients. Output: a response, never an
 * exception for the content of an object.
 */
@NullMarked
package dev.sluice.webhooks;

import org.jspecify.annotations.NullMarked;
