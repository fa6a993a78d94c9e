/** What {@code explain} tells of objects and of a running operator. */
@NullMarked
package dev.sluice.visibility.explain;

import org.jspecify.annotations.NullMarked;
