/**
 * The scheduler thread and all state that decisions depend on: mailbox, Workload table, quota
 * accounting, published views. Events enter; decisions leave to a sink, and immutable views to
 * their readers.
 */
@NullMarked
package dev.sluice.core.engine;

import org.jspecify.annotations.NullMarked;
