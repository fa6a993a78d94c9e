/** Tests of the readers of own kinds. */
@NullMarked
package dev.sluice.api.sluice;

import org.jspecify.annotations.NullMarked;
