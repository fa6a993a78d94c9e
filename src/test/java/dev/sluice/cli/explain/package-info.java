/** What {@code explain} tells of objects and of a running operator. */
@NullMarked
package dev.sluice.cli.explain;

import org.jspecify.annotations.NullMarked;
