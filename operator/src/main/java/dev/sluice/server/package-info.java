/**
 * HTTP servers of the operator. Input: handlers from request to response, key material and a clock.
 * Output: running servers that can be closed; the content of responses is decided in other
 * packages.
 */
@NullMarked
package dev.sluice.server;

import org.jspecify.annotations.NullMarked;
