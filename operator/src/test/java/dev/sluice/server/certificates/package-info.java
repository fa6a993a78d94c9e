/** Certificates are made, renewed, read and published. */
@NullMarked
package dev.sluice.server.certificates;

import org.jspecify.annotations.NullMarked;
