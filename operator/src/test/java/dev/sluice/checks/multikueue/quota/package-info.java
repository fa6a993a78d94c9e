/** Tests of quota that is kept at the sum of the workers'. */
@NullMarked
package dev.sluice.checks.multikueue.quota;

import org.jspecify.annotations.NullMarked;
