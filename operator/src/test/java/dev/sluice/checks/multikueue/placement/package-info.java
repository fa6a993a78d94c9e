/** Tests of the room of the same name. */
@NullMarked
package dev.sluice.checks.multikueue.placement;

import org.jspecify.annotations.NullMarked;
