/**
 * Reading objects that others wrote: whatever is in them, reading ends with an object, and watches
 * go on.
 */
@NullMarked
package dev.sluice.kube.reflect;

import org.jspecify.annotations.NullMarked;
