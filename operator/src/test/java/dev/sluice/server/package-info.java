/** Servers and certificates, tried with real sockets on loopback. */
@NullMarked
package dev.sluice.server;

import org.jspecify.annotations.NullMarked;
