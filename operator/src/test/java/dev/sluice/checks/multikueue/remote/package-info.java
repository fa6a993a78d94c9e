/** Tests of the room of the same name. */
@NullMarked
package dev.sluice.checks.multikueue.remote;

import org.jspecify.annotations.NullMarked;
