/** Rows against the integral of what was used, and on a real control plane. */
@NullMarked
package dev.sluice.ledger;

import org.jspecify.annotations.NullMarked;
