/**
 * HTTP and HTTPS servers with limits on connections, bodies and concurrency. Handlers from request
 * to response enter. A running server that can be closed leaves; it knows no path and no user.
 */
@NullMarked
package dev.sluice.server.http;

import org.jspecify.annotations.NullMarked;
