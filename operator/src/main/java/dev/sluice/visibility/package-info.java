/**
 * Explanations as text, and the command that shows them. Input: explanations of the scheduler and
 * objects of the API. Output: text.
 */
@NullMarked
package dev.sluice.visibility;

import org.jspecify.annotations.NullMarked;
