/** Tests of the wiring. */
@NullMarked
package dev.sluice.app.module;

import org.jspecify.annotations.NullMarked;
