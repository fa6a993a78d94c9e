/** Tests of pod accounting. */
@NullMarked
package dev.sluice.accounting;

import org.jspecify.annotations.NullMarked;
