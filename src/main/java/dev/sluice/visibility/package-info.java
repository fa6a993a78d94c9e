/**
 * Renders what the engine knows for people: explanations as text, and the command that shows them.
 * Explanations of the engine and objects of the API enter; text leaves.
 */
@NullMarked
package dev.sluice.visibility;

import org.jspecify.annotations.NullMarked;
