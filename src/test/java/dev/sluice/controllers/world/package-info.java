/** What the engine is told of the world, and when. */
@NullMarked
package dev.sluice.controllers.world;

import org.jspecify.annotations.NullMarked;
