/** The engine, told facts and asked for decisions. */
@NullMarked
package dev.sluice.core.engine;

import org.jspecify.annotations.NullMarked;
