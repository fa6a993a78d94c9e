/**
 * Assignment of flavors to pod sets. The request shape, the queue with its quota, and the flavors
 * are the input; an assignment with its attempts and rejections is the output.
 */
@NullMarked
package dev.sluice.core.scheduling.flavor;

import org.jspecify.annotations.NullMarked;
