/** Tests of the wiring. */
@NullMarked
package dev.sluice;

import org.jspecify.annotations.NullMarked;
