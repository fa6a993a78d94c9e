/**
 * Keys and certificates that the operator creates and renews itself, or reads from a directory.
 * Secrets, files and a clock enter. Key material for servers and authorities for clients leave.
 */
@NullMarked
package dev.sluice.server.certificates;

import org.jspecify.annotations.NullMarked;
