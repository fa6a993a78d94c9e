/**
 * What is served: health, metrics, profiles, webhooks, visibility and explanations. Requests and
 * the functions that answer them enter. Responses leave.
 */
@NullMarked
package dev.sluice.server.endpoints;

import org.jspecify.annotations.NullMarked;
