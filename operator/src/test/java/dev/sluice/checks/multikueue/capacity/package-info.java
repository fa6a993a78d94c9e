/** Tests of the room of the same name. */
@NullMarked
package dev.sluice.checks.multikueue.capacity;

import org.jspecify.annotations.NullMarked;
