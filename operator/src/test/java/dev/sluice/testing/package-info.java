/**
 * What tests of several rooms share: the real control plane, and small helpers for it. Test classes
 * enter with an annotation. A namespace and names of their own leave, so that tests never meet.
 */
@NullMarked
package dev.sluice.testing;

import org.jspecify.annotations.NullMarked;
