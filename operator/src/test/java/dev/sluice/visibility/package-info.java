/** Tests of what people are shown. */
@NullMarked
package dev.sluice.visibility;

import org.jspecify.annotations.NullMarked;
