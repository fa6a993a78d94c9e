/**
 * Tests of the search for flavors. One queue with its quota, and shapes, may enter. Nothing leaves.
 */
@NullMarked
package dev.sluice.core.scheduling.flavor;

import org.jspecify.annotations.NullMarked;
