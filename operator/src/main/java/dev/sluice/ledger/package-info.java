/**
 * The ledger: who used how much of what, one attempt of a Workload at a time (docs/ledger.md).
 * Versions of Workloads enter. Rows in a database leave, and sums of them. Nothing here decides
 * anything, and nothing that decides waits for it.
 */
@NullMarked
package dev.sluice.ledger;

import org.jspecify.annotations.NullMarked;
