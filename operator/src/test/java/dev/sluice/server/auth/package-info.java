/** Who sends a request and what the user may do. */
@NullMarked
package dev.sluice.server.auth;

import org.jspecify.annotations.NullMarked;
