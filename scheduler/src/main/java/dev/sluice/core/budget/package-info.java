/**
 * What budgets allow: periods, what was spent, and which Workloads are held (docs/budgets.md).
 * {@link dev.sluice.core.budget.Budgets} is the one owner of this state.
 */
@NullMarked
package dev.sluice.core.budget;

import org.jspecify.annotations.NullMarked;
