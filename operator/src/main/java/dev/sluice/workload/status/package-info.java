/**
 * What changes of a Workload's status look like: conditions, states of checks, evictions. A record
 * and a decision enter. A patch leaves; nothing is written here.
 */
@NullMarked
package dev.sluice.workload.status;

import org.jspecify.annotations.NullMarked;
