/** What the endpoints answer. */
@NullMarked
package dev.sluice.server.endpoints;

import org.jspecify.annotations.NullMarked;
