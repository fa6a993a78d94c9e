/**
 * Who sends a request, and what the user may do. Requests, client certificates and tokens enter.
 * Users and answers of access reviews leave, for a bounded time from memory.
 */
@NullMarked
package dev.sluice.server.auth;

import org.jspecify.annotations.NullMarked;
