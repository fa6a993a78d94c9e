/** Tests of budgets: events enter, what is spent and refused is checked. */
@NullMarked
package dev.sluice.core.budget;

import org.jspecify.annotations.NullMarked;
