/**
 * The doors of the operator: HTTPS with certificates that it makes and renews itself, health,
 * metrics, and the endpoints that the API server calls. Functions from request to response, key
 * material and a clock may enter; what they answer is decided in other rooms. Nothing but running
 * servers, each of which can be closed, may leave.
 */
@NullMarked
package dev.sluice.server;

import org.jspecify.annotations.NullMarked;
