/** Tests of the engine: events enter, decisions are checked. */
@NullMarked
package dev.sluice.core.engine;

import org.jspecify.annotations.NullMarked;
