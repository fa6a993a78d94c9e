/** Tests of the room of the same name. */
@NullMarked
package dev.sluice.api.placement;

import org.jspecify.annotations.NullMarked;
