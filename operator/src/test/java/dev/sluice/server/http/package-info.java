/** Servers, tried with real sockets on loopback. */
@NullMarked
package dev.sluice.server.http;

import org.jspecify.annotations.NullMarked;
