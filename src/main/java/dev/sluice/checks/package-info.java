/**
 * Admission checks: which of them a Workload needs, and the controllers of those that this process
 * answers itself. Queues, Workload records and the objects that checks name may enter. Names of
 * checks and states of single checks leave; nothing here reserves or takes back quota.
 */
@NullMarked
package dev.sluice.checks;

import org.jspecify.annotations.NullMarked;
