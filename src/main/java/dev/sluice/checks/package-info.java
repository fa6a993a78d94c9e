/**
 * Admission checks: the controllers of those that this process answers itself, a room each. Queues,
 * Workloads and the objects that checks name may enter. States of single checks and conditions of
 * checks leave; nothing here reserves or takes back quota.
 */
@NullMarked
package dev.sluice.checks;

import org.jspecify.annotations.NullMarked;
