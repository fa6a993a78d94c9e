/** Tests of topology aware scheduling outside of the engine. */
@NullMarked
package dev.sluice.topology;

import org.jspecify.annotations.NullMarked;
