/**
 * The whole house. Only the wiring may enter this room: it constructs every object, by hand, in the
 * order in which it is read. Nothing leaves but a running operator.
 */
@NullMarked
package dev.sluice.app;

import org.jspecify.annotations.NullMarked;
