/**
 * Carries out what is planned for Workloads: their copies and jobs in worker clusters, and what the
 * manager's own objects say of them. Changes of Workloads here and there may enter, and plans.
 * Writes leave, one at a time for each Workload, and only from the replica that leads.
 */
@NullMarked
package dev.sluice.checks.multikueue.sync;

import org.jspecify.annotations.NullMarked;
